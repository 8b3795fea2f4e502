import { setTimeout as sleep } from 'node:timers/promises'
import { freePort } from '../../../src/platform/lib/web/listen.ts'
import { BALANCERS, type Balancer, isInstalled, startBalancer } from '../balancers.ts'
import { startVisitors } from '../load/visitors.ts'
import { type Figure, type Ground, ms, type Scenario } from '../scenario.ts'
import { rawReads } from './shutdown.ts'

const CONNECTIONS = 32
const PAUSE_MS = 8

/** Two processes behind a load balancer are replaced one after the other while callers continue. */
export const rolling: Scenario = async (ground) => {
  const figures: Figure[] = []
  for (const balancer of BALANCERS) {
    if (isInstalled(balancer)) figures.push(await rollBehind(ground, balancer))
    else {
      ground.progress(`SKIPPED: ${balancer.program} is not installed (apt-get install ${balancer.program})`)
      figures.push({
        figure: `requests lost behind ${balancer.name}`,
        value: `skipped: ${balancer.program} is not installed`,
      })
    }
  }
  return figures
}

async function rollBehind(ground: Ground, balancer: Balancer): Promise<Figure> {
  const { world, options, progress, endings } = ground
  const ports = [await freePort(), await freePort()]
  const launch = (port: number) => ground.start({ PORT: String(port), SHUTDOWN_DELAY_S: '3' })
  const services = [await launch(ports[0] as number), await launch(ports[1] as number)]
  const port = await freePort()
  const { stop } = await startBalancer(balancer, world.folder, port, ports)
  endings.add(stop)
  await sleep(1_500) // until the balancer considers both healthy
  const visitors = startVisitors({
    port,
    connections: CONNECTIONS,
    request: rawReads(world),
    pauseMs: PAUSE_MS,
    mayConnect: () => true,
    onRefused: 'again',
  })
  const rounds = options.scale < 1 ? 1 : 2
  let longest = 0
  for (let turn = 0; turn < rounds * 2; turn++) {
    const place = turn % 2
    longest = Math.max(longest, (await services[place]?.stop()) ?? 0)
    services[place] = await launch(ports[place] as number)
    progress(`${balancer.program}: process ${place + 1} replaced, ${visitors.counts.answered} answered so far`)
    await sleep(balancer.forgivesAfterS * 1000)
  }
  visitors.stop()
  await visitors.ended
  const { answered, reset, failed, refused, reasons } = visitors.counts
  progress(
    `${balancer.program}: ${answered} answered, ${reset} reset, ${failed} failed, ${refused} refused; ${[...reasons]}`,
  )
  await Promise.all(services.map((service) => service.stop()))
  await stop()
  return {
    figure: `requests lost behind ${balancer.name}, ${rounds * 2} restarts`,
    value: `${reset + failed + refused} (of ${answered}); each ended within ${ms(longest)}`,
  }
}
