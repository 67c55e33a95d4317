"""Makes namespaces of its own, mounts, and becomes root in them."""
# base: solved
# where: first
# lost: nothing

import ctypes

libc = ctypes.CDLL(None, use_errno=True)
libc.unshare(0x10000000 | 0x20000)
libc.mount(b"none", b"/", b"tmpfs", 0, None)
libc.setuid(0)
libc.chroot(b"/scratch")
libc.capset(None, None)
libc.prctl(22, 0, 0, 0, 0)
