import asyncio, time, cProfile, pstats, os
from tests.control_plane.controllers.kubelet import run, succeed
from tests.control_plane.controllers.world import World, queued, state_of
from tests.control_plane.objects import TASKS, PROJECTS
from tests.control_plane.conftest import *
from tests.control_plane.controllers.conftest import *
N=int(os.environ.get("N","500"))
def counts(r):
    out={}
    for f in r.metrics.registry.collect():
        for s in f.samples:
            if s.name=="controller_runtime_reconcile_total":
                out[s.labels["controller"]]=out.get(s.labels["controller"],0)+s.value
    return out
async def quiet(r):
    last=None; since=time.monotonic()
    while True:
        c=counts(r)
        if c!=last: last, since=c, time.monotonic()
        elif time.monotonic()-since>1.5: return
        await asyncio.sleep(0.1)
async def test_perf(world: World):
    await world.project(gates={"enabled": False}, limits={"maxAgents": 6})
    world.kubelet.on("agent", run)
    sem=asyncio.Semaphore(20)
    async def mk(n):
        async with sem: await world.task(f"t{n}", files=[f"src/f{n}.py"])
    t=time.monotonic()
    await asyncio.gather(*(mk(n) for n in range(N)))
    print("created", time.monotonic()-t)
    t=time.monotonic(); c0=time.process_time()
    prof=cProfile.Profile(); 
    r=await world.start()
    if os.environ.get("PROF"): prof.enable()
    await quiet(r)
    prof.disable()
    print(f"A settle {N}: wall {time.monotonic()-t-1.5:.1f} cpu {time.process_time()-c0:.1f}", counts(r), "writes", len(world.writes()))
    if os.environ.get("PROF"): pstats.Stats(prof).sort_stats("cumulative").print_stats(35)
    before=counts(r); t=time.monotonic(); c0=time.process_time()
    await world.change(PROJECTS,"default", limits={"maxAgents": 7})
    await quiet(r)
    print(f"B project change: wall {time.monotonic()-t-1.5:.1f} cpu {time.process_time()-c0:.1f}", {k:v-before.get(k,0) for k,v in counts(r).items()})
    before=counts(r); t=time.monotonic(); c0=time.process_time()
    world.kubelet.on("agent", succeed)
    running=[j for j in world.kubelet.ran]
    for j in running: 
        p=world.kubelet.pods[j]
        await p.end("Succeeded", await p.deliver())
    done=asyncio.Event()
    n=0
    end=time.monotonic()+60
    while time.monotonic()<end:
        n=sum(1 for o in r.engine.caches.tasks.informer.objects() if state_of(o)=="Closed")
        if n>=100 or n>=N: break
        await asyncio.sleep(0.2)
    print(f"C closed {n}: wall {time.monotonic()-t:.1f} cpu {time.process_time()-c0:.1f}", {k:v-before.get(k,0) for k,v in counts(r).items()})
