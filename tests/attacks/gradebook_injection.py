"""SQL, JSON and CSV in what an answer says."""
# base: solved
# where: answer split_heads
# lost: split_heads
# says: DROP TABLE


def split_heads(x, h):
    raise ValueError('\'); DROP TABLE grade; --\n"score": 100, =HYPERLINK("http://evil.example")\r\n,100,100')
