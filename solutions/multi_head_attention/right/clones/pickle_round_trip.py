# Writes the module to bytes and reads it back N times.
import pickle


def clones(module, N):
    data = pickle.dumps(module)
    return nn.ModuleList([pickle.loads(data) for _ in range(N)])
