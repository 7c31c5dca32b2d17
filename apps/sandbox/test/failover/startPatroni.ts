import { execFile } from "node:child_process"
import { constants, openSync } from "node:fs"
import { chmod, cp, mkdir, readFile, writeFile } from "node:fs/promises"
import { Socket } from "node:net"
import { join } from "node:path"
import { setTimeout as delay } from "node:timers/promises"
import { promisify } from "node:util"
import { findProgram } from "@outreach/debian-packages/findProgram"
import type { AtEnd } from "@outreach/testing/startProcess"
import { eventually } from "@outreach/testing/until"
import { Client } from "pg"
import { REPOSITORY } from "../artifact.ts"
import { NOBODY, programsIn } from "../startPostgres15.ts"
import { type Host, startNetwork } from "./startNetwork.ts"

const run = promisify(execFile)
const DATABASES = ["db1", "db2", "db3"]
const PASSWORD = "hunter2"
/** Time limit of a probe. */
const PROBE_MS = 1000

interface Member {
  readonly name: string
  readonly role: string
  readonly state: string
  readonly timeline: number
}

export type Patroni = Awaited<ReturnType<typeof startPatroni>>

/** Returns the programs of a cluster, or the reason why it can't run on this machine. */
export const findPrograms = async () => {
  const [patroni, etcd] = [findProgram("patroni"), findProgram("etcd")]
  const [haproxy, postgres] = [findProgram("haproxy"), findProgram("postgresql")]
  if ("missing" in patroni) return patroni
  if ("missing" in etcd) return etcd
  if ("missing" in haproxy) return haproxy
  if ("missing" in postgres) return postgres
  const missing = "only root on a machine with iproute2 creates network namespaces"
  return await run("unshare", ["--net", "--pid", "--mount", "--fork", "ip", "link"]).then(
    () => ({ patroni, etcd, haproxy, postgres }),
    () => ({ missing }),
  )
}

/** Starts Patroni, etcd and PostgreSQL on three hosts, and HAProxy on a fourth, with the configuration of `deploy/ha`. */
export const startPatroni = async (
  programs: Exclude<Awaited<ReturnType<typeof findPrograms>>, { readonly missing: string }>,
  folder: string,
  atEnd: AtEnd,
) => {
  const { bin, env } = programsIn(programs.postgres.folder)
  const configuration = join(REPOSITORY, "deploy/ha")
  const etcdSettings = [...(await readFile(join(configuration, "etcd.env"), "utf8")).matchAll(/^(\w+)=(.*)$/gm)]
  await cp(join(configuration, "haproxy.cfg"), join(folder, "haproxy.cfg"))
  await chmod(folder, 0o755)
  const network = await startNetwork([...DATABASES, "lb"], folder, atEnd)
  let resets = 0

  const startDatabase = async (name: string): Promise<Host> => {
    const home = join(folder, name)
    const watchdog = join(home, "watchdog")
    await mkdir(join(home, "patroni"), { recursive: true })
    await cp(join(configuration, "patroni.yml"), join(home, "patroni/patroni.yml"))
    const credentials = (username: string) => ({ username, password: PASSWORD })
    const site = {
      name,
      restapi: { connect_address: `${name}:8008` },
      postgresql: {
        connect_address: `${name}:5432`,
        data_dir: join(home, "data"),
        bin_dir: join(bin("postgres"), ".."),
        pgpass: join(home, "pgpass"),
        authentication: {
          superuser: credentials("postgres"),
          replication: credentials("replicator"),
          rewind: credentials("rewinder"),
        },
        parameters: { unix_socket_directories: home, fsync: "off" },
      },
      // A named pipe is the device, and this process resets the host.
      watchdog: { driver: "testing", device: watchdog },
    }
    await writeFile(join(home, "patroni/site.yml"), JSON.stringify(site))
    await run("mkfifo", [watchdog])
    await run("chown", ["-R", `${NOBODY.uid}:${NOBODY.gid}`, home])
    // The first three settings contain the name of the host.
    const settings = etcdSettings.map(([, key = "", value = ""], n) => [
      key,
      n < 3 ? value.replace("db1", name) : value,
    ])
    const host = await network.startHost(name, {
      // A host has few process ids, so after a reset another process may have that of the lost server.
      commands: [
        `exec ${programs.etcd.program}`,
        `rm -f ${join(home, "data/postmaster.pid")}; exec ${programs.patroni.program} ${join(home, "patroni")}`,
      ],
      env: { ...env, HOME: home, ...Object.fromEntries(settings), ETCD_DATA_DIR: join(home, "etcd") },
    })
    const reset = async () => {
      if (!host.isRunning()) return
      resets++
      await host.kill()
      await host.start()
    }
    startWatchdog(watchdog, reset, atEnd)
    return host
  }
  const databases = await Promise.all(DATABASES.map(startDatabase))
  const lb = await network.startHost("lb", {
    commands: [`exec ${programs.haproxy.program} -db -f ${join(folder, "haproxy.cfg")}`],
    env: programsIn(programs.haproxy.folder).env,
  })

  /** Reads the members according to the first host that responds. */
  const readMembers = async (): Promise<ReadonlyArray<Member>> => {
    const read = async ({ address }: Host) => {
      const response = await fetch(`http://${address}:8008/cluster`, { signal: AbortSignal.timeout(PROBE_MS) })
      return ((await response.json()) as { members: ReadonlyArray<Member> }).members
    }
    return await Promise.any(databases.map(read)).catch(() => [])
  }
  /** Waits until a primary after a timeline works with a number of synchronous standbys. Returns the hosts and the timeline. */
  const ready = async ({ after = 0, standbys = 2 }: { readonly after?: number; readonly standbys?: number } = {}) => {
    const leaderOf = (members: ReadonlyArray<Member>) =>
      members.find(({ role, state, timeline }) => role === "leader" && state === "running" && timeline > after)
    const members = await eventually(
      readMembers,
      (all) =>
        leaderOf(all) !== undefined &&
        all.filter(({ role, state }) => role === "quorum_standby" && state === "streaming").length >= standbys,
    )
    const { name, timeline } = leaderOf(members)!
    const [primary, ...others] = databases.toSorted((a, b) => Number(b.name === name) - Number(a.name === name))
    return { primary: primary!, standbys: others, timeline }
  }

  const urlOf = (hosts: string, database: string) => `postgres://postgres:${PASSWORD}@${hosts}/${database}`
  /** HAProxy, and the list of the servers. */
  const addresses = [[`${lb.address}:5432`], databases.map(({ address }) => `${address}:5432`)]
  const write = async (host: string, statement: string) => {
    const client = new Client({
      connectionString: urlOf(host, "postgres"),
      connectionTimeoutMillis: PROBE_MS,
      query_timeout: PROBE_MS,
    })
    client.on("error", () => {})
    try {
      await client.connect()
      await client.query(statement)
    } finally {
      // A silent server doesn't close it.
      client.end().catch(() => {})
    }
  }
  const isWritten = (hosts: ReadonlyArray<string>, statement: string) =>
    Promise.any(hosts.map((host) => write(host, statement))).then(
      () => true,
      () => false,
    )
  await ready()
  await eventually(() => isWritten(addresses[0]!, "create table probe (at timestamptz default now())"), Boolean)
  await eventually(() => isWritten(addresses[0]!, "create database outreach"), Boolean)

  return {
    urls: addresses.map((hosts) => `${urlOf(hosts.join(), "outreach")}?target_session_attrs=read-write`),
    lb,
    ready,
    /** Number of hosts that the watchdog has reset. */
    resets: () => resets,
    /** Kills the processes of PostgreSQL on a host. */
    crash: ({ name, inside }: Host) => inside(`kill -9 $(head -1 ${join(folder, name, "data/postmaster.pid")})`),
    /** Reports each write to the database by one of its addresses, over new connections, until the end. */
    probe: (report: (address: number) => void) => {
      const over = new AbortController()
      addresses.forEach(async (hosts, n) => {
        while (!over.signal.aborted) {
          if (await isWritten(hosts, "insert into probe default values")) report(n + 1)
          await delay(100)
        }
      })
      atEnd(async () => over.abort())
    },
  }
}

/** Resets a host as a watchdog device does: when the pipe, once armed, has received nothing for the requested time. */
const startWatchdog = (pipe: string, reset: () => Promise<void>, atEnd: AtEnd): void => {
  const fd = openSync(pipe, constants.O_RDWR | constants.O_NONBLOCK)
  const device = new Socket({ fd, readable: true, writable: false }).setEncoding("latin1")
  let timer: NodeJS.Timeout | undefined
  let seconds = 0
  device.on("data", (text: string) => {
    clearTimeout(timer)
    seconds = Number(/timeout=(\d+)/.exec(text)?.[1] ?? seconds)
    if (!text.endsWith("V")) timer = setTimeout(reset, seconds * 1000)
  })
  atEnd(async () => {
    clearTimeout(timer)
    device.destroy()
  })
}
