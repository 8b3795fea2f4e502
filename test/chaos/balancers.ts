import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

/** nginx and haproxy with an ordinary setup in front of two processes, not tuned for this service. */

export interface Balancer {
  readonly name: string
  readonly program: string
  /** Seconds until it retries a process that it considered down; nginx's `fail_timeout` is 10. */
  readonly forgivesAfterS: number
  /** The text of the configuration file; `args` start the program with it in the foreground. */
  readonly config: (folder: string, port: number, upstreams: readonly number[]) => string
  readonly args: (folder: string, file: string) => readonly string[]
}

export const BALANCERS: readonly Balancer[] = [
  {
    name: 'nginx, keepalive to the upstream',
    program: 'nginx',
    forgivesAfterS: 11,
    config: (folder, port, upstreams) => `
worker_processes 1;
daemon off;
pid ${folder}/nginx.pid;
error_log ${folder}/nginx-error.log;
events { worker_connections 1024; }
http {
  access_log off;
  client_body_temp_path ${folder}/nginx-body;
  proxy_temp_path ${folder}/nginx-proxy;
  fastcgi_temp_path ${folder}/nginx-fastcgi;
  uwsgi_temp_path ${folder}/nginx-uwsgi;
  scgi_temp_path ${folder}/nginx-scgi;
  keepalive_requests 1000000;
  upstream gatehouse {
${upstreams.map((upstream) => `    server 127.0.0.1:${upstream};`).join('\n')}
    keepalive 32;
  }
  server {
    listen 127.0.0.1:${port};
    location / {
      proxy_pass http://gatehouse;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
    }
  }
}
`,
    args: (folder, file) => ['-p', folder, '-c', file, '-e', join(folder, 'nginx-error.log')],
  },
  {
    name: 'haproxy, mode tcp with a check of /readyz',
    program: 'haproxy',
    forgivesAfterS: 2,
    config: (_folder, port, upstreams) => `
global
  maxconn 1000
defaults
  mode tcp
  timeout connect 2s
  timeout client 60s
  timeout server 60s
frontend public
  bind 127.0.0.1:${port}
  default_backend gatehouse
backend gatehouse
  balance roundrobin
  option httpchk GET /readyz
  default-server check inter 500ms fall 2 rise 1
${upstreams.map((upstream, index) => `  server process${index} 127.0.0.1:${upstream}`).join('\n')}
`,
    args: (_folder, file) => ['-db', '-f', file],
  },
]

export const isInstalled = ({ program }: Balancer): boolean => spawnSync(program, ['-v']).error === undefined

/** Resolves once the balancer listens. */
export async function startBalancer(
  balancer: Balancer,
  folder: string,
  port: number,
  upstreams: readonly number[],
): Promise<{ stop(): Promise<void> }> {
  const file = join(folder, `${balancer.program}.conf`)
  writeFileSync(file, balancer.config(folder, port, upstreams))
  const child: ChildProcess = spawn(balancer.program, balancer.args(folder, file), {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let said = ''
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (text) => (said = (said + text).slice(-2_000)))
  const ended = once(child, 'exit')
  const stop = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return
    child.kill('SIGTERM')
    const timer = setTimeout(() => child.kill('SIGKILL'), 3_000)
    await ended
    clearTimeout(timer)
  }
  for (let waited = 0; waited < 250; waited++) {
    if (child.exitCode !== null) throw new Error(`${balancer.program} does not start:\n${said}`)
    if (await listens(port)) return { stop }
    await sleep(20)
  }
  await stop()
  throw new Error(`${balancer.program} does not listen:\n${said}`)
}

async function listens(port: number): Promise<boolean> {
  const socket = connect({ port, host: '127.0.0.1' })
  const open = await once(socket, 'connect').then(
    () => true,
    () => false,
  )
  socket.destroy()
  return open
}
