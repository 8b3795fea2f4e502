/**
 * The setup documented in OPERATIONS (compared by a test): PostgreSQL nodes under Patroni, which elect their leader through
 * etcd, and HAProxy, which forwards to the leader.
 */

export interface Member {
  readonly name: string
  readonly address: string
  readonly postgresPort: number
  /** The port of Patroni's REST API. */
  readonly restPort: number
  /** The port at which replicas reach its PostgreSQL. */
  readonly replicationPort: number
  readonly dataDir: string
}

export interface Surroundings {
  readonly etcd: readonly string[]
  readonly network: string
  /** Folder of PostgreSQL's programs. */
  readonly binDir: string
  readonly socketDir: string
  readonly passwords: { readonly superuser: string; readonly replication: string }
}

/** The values shown in OPERATIONS. */
export const SHOWN: { readonly members: readonly Member[]; readonly surroundings: Surroundings } = {
  members: [1, 2, 3].map((number) => ({
    name: `pg${number}`,
    address: `10.0.0.1${number}`,
    postgresPort: 5432,
    restPort: 8008,
    replicationPort: 5432,
    dataDir: '/var/lib/postgresql/gatehouse',
  })),
  surroundings: {
    etcd: ['10.0.0.11:2379', '10.0.0.12:2379', '10.0.0.13:2379'],
    network: '10.0.0.0/24',
    binDir: '/usr/lib/postgresql/15/bin',
    socketDir: '/var/run/postgresql',
    passwords: { superuser: 'SUPERUSER_PASSWORD', replication: 'REPLICATION_PASSWORD' },
  },
}

/** `ttl` must be at least `loop_wait` and twice `retry_timeout`. */
export const patroniConfig = (
  { name, address, postgresPort, restPort, replicationPort, dataDir }: Member,
  { etcd, network, binDir, socketDir, passwords }: Surroundings,
): string => `scope: gatehouse
name: ${name}
restapi: { listen: '${address}:${restPort}', connect_address: '${address}:${restPort}' }
etcd3: { hosts: [${etcd.map((host) => `'${host}'`).join(', ')}] }
bootstrap:
  dcs:
    ttl: 20
    loop_wait: 5
    retry_timeout: 5
    synchronous_mode: true
    synchronous_mode_strict: true
    postgresql: { use_pg_rewind: true, parameters: { max_connections: 200 } }
  initdb: [{ encoding: UTF8 }, { locale: C.UTF-8 }, data-checksums]
postgresql:
  listen: '${address}:${postgresPort}'
  connect_address: '${address}:${replicationPort}'
  data_dir: ${dataDir}
  bin_dir: ${binDir}
  parameters: { unix_socket_directories: ${socketDir} }
  authentication:
    superuser: { username: postgres, password: ${passwords.superuser} }
    replication: { username: replicator, password: ${passwords.replication} }
  pg_hba:
    - host replication replicator ${network} scram-sha-256
    - host all all ${network} scram-sha-256
`

/** `port`: where the service connects to the database. */
export const haproxyConfig = (members: readonly Member[], port: number): string => `defaults
  mode tcp
  timeout connect 2s
  timeout check 2s
  timeout client 1h
  timeout server 1h
listen gatehouse
  bind 127.0.0.1:${port}
  option httpchk OPTIONS /primary
  default-server inter 1s fall 2 rise 1 on-marked-down shutdown-sessions
${members
  .map(
    ({ name, address, postgresPort, restPort }) => `  server ${name} ${address}:${postgresPort} check port ${restPort}`,
  )
  .join('\n')}
`
