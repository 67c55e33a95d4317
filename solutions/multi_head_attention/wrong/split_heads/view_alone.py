# misconception: heads-by-view-alone
# view straight to (B, h, T, d_k) (reczoo/FuxiCTR#30, hyunwoongko/transformer#15).
def split_heads(x, h):
    B, T, d_model = x.shape
    return x.reshape(B, h, T, d_model // h)
