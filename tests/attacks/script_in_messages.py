"""HTML and scripts in messages, names and printed text."""
# base: solved
# where: answer split_heads
# lost: split_heads
# says: <img src=x

Evil = type("<script>window.ran=1</script>", (Exception,), {})


def split_heads(x, h):
    print("<script>window.ran = 1</script>")
    raise Evil("<img src=x onerror='window.ran=1'><svg/onload=window.ran=1>`</code><script>window.ran=1</script>")
