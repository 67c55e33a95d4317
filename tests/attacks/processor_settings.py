"""Changes how torch computes, in the hope that it stays so for the next."""
# base: solved
# where: last
# lost: own

import torch

torch.set_num_threads(1)
torch.set_default_dtype(torch.float64)
torch.use_deterministic_algorithms(True)
torch.set_flush_denormal(True)
torch.set_grad_enabled(False)
torch.backends.mkldnn.enabled = False
