import { execFile, execFileSync } from "node:child_process"
import { chmod, cp, mkdir, rm, symlink, writeFile } from "node:fs/promises"
import { createServer } from "node:http"
import { join } from "node:path"
import { promisify } from "node:util"
import { createClient } from "@outreach/client"
import { findProgram } from "@outreach/debian-packages/findProgram"
import { stop as stopServer } from "@outreach/embedded-postgres/server"
import { startPostgres } from "@outreach/embedded-postgres/startPostgres"
import { withClient } from "@outreach/embedded-postgres/withClient"
import { listen } from "@outreach/testing/listen"
import { loopbackAddress } from "@outreach/testing/loopbackAddress"
import { settableClock } from "@outreach/testing/settableClock"
import type { AtEnd } from "@outreach/testing/startProcess"
import { temporaryFolder } from "@outreach/testing/temporaryFolder"
import { eventually } from "@outreach/testing/until"
import { REPOSITORY, KEY as SECRETS_KEY } from "../artifact.ts"
import { accountCreated, createCampaign, createPartner } from "../createPartner.ts"
import { startPrometheus } from "./startPrometheus.ts"
import { AUTHORITY, CERTIFICATES, KEY, startMail, startNames, startPartnerProxy } from "./startServers.ts"
import { ADMIN_PORTS, API_PORT, startUnit, type Unit } from "./startUnits.ts"

const run = promisify(execFile)
const ROLES = ["owner", "api", "worker", "operator", "reader"] as const
const password = (role: string): string => `${role}-password`
/** E-mails per minute, so that there is always work in progress. */
const PER_MINUTE = 240
const RECIPIENTS = 4000
const DISK_MB = 400

export const canMount = process.platform === "linux" && process.getuid?.() === 0

/** The Debian programs that a stage needs, or the reason why they aren't available. */
export const findPrograms = async () => {
  const [prometheus, postgres] = [findProgram("prometheus"), findProgram("postgresql")]
  if ("missing" in prometheus) return prometheus
  if ("missing" in postgres) return postgres
  return { prometheus: prometheus.folder, postgres: postgres.folder }
}

/**
 * Starts a deployment: PostgreSQL with TLS and a role for each process, API, worker and console as units, a mail server, a partner, a name server
 * and Prometheus, with a campaign that sends four e-mails a second. Ends with `atEnd`. `hasClocks`: the clocks of PostgreSQL and the
 * worker are adjustable.
 */
export const startStage = async (
  { artifact, hasClocks }: { readonly artifact: string; readonly hasClocks: boolean },
  atEnd: AtEnd,
) => {
  const programs = await findPrograms()
  if ("missing" in programs) throw new Error(programs.missing)
  const folder = temporaryFolder("oncall", atEnd)
  await chmod(folder, 0o755)
  const inFolder = (name: string) => join(folder, name)
  const [etc, bin, disk, postfix] = [inFolder("etc"), inFolder("bin"), inFolder("disk"), inFolder("postfix")]
  const opt = inFolder("opt")
  for (const each of [etc, bin, disk, postfix]) await mkdir(each)
  if (canMount) mountTmpfs(disk, `size=${DISK_MB}m,mode=755`, atEnd)

  const clocks = await startClocks(hasClocks, atEnd)
  const database = await startPostgres({
    dataDirectory: disk,
    files: { "server.crt": CERTIFICATES.valid, "server.key": KEY },
    environment: clocks.database?.environment ?? {},
    settings: {
      ...{ ssl: "on", max_connections: "60", fsync: "off", synchronous_commit: "off" },
      ...{ min_wal_size: "32MB", max_wal_size: "64MB" },
    },
  })
  atEnd(database.stop)
  const superuser = Object.assign(new URL(database.url), { pathname: "/outreach" })
  const connection = {
    ...{ PGHOST: "127.0.0.1", PGPORT: String(database.port), PGDATABASE: "outreach" },
    ...{ PGUSER: superuser.username, PGPASSWORD: superuser.password },
  }
  const libraries = join(programs.postgres, "usr/lib/x86_64-linux-gnu")
  const script = async (name: string, text: string) => {
    await writeFile(join(bin, name), text, { mode: 0o755 })
  }
  await script(
    "psql",
    `#!/bin/sh\nLD_LIBRARY_PATH=${libraries} exec ${programs.postgres}/usr/lib/postgresql/15/bin/psql -X -v ON_ERROR_STOP=1 "$@"\n`,
  )
  const host = loopbackAddress()
  /** The page has the paths of a dedicated machine. This run replaces each by a folder, and shares ports by using other addresses. */
  const places: Readonly<Record<string, string>> = {
    "/etc/outreach": etc,
    "/etc/postfix": postfix,
    "/var/lib/postgresql": disk,
    "/var/log/outreach": join(folder, "log"),
    "/opt/outreach": opt,
    "sport = ": `src ${host}`,
  }
  const shell = async (command: string) => {
    const here = Object.entries(places).reduce((text, [place, ours]) => text.replaceAll(place, ours), command)
    const { stdout, stderr, ...rest } = await run("bash", ["-ec", here], {
      cwd: folder,
      env: { ...connection, PATH: `${bin}:${process.env["PATH"]}` },
      timeout: 120_000,
      killSignal: "SIGKILL",
    }).catch((error) => {
      if (typeof error.stdout !== "string") throw error
      return error as { stdout: string; stderr: string; code: number | null }
    })
    return { text: `${stdout}${stderr}`, code: "code" in rest ? rest.code : 0 }
  }
  await run(join(bin, "psql"), ["-d", "postgres", "-c", "create database outreach"], { env: connection })
  const passwords = ROLES.map((role) => [`${role.toUpperCase()}_PASSWORD`, password(role)] as const)
  await run(join(bin, "psql"), ["-q", "-f", join(REPOSITORY, "deploy/create-roles.sql")], {
    env: { ...connection, ...Object.fromEntries(passwords) },
  })

  const mail = await startMail(postfix, atEnd)
  const proxy = await startPartnerProxy(atEnd)
  const names = await startNames(atEnd)
  const address = (role: string) =>
    `postgres://outreach_${role}:${password(role)}@127.0.0.1:${database.port}/outreach?sslmode=verify-full&sslrootcert=${AUTHORITY}`
  const files: Readonly<Record<string, Readonly<Record<string, string>>>> = {
    outreach: {
      ...{ SECRETS_KEY, NODE_EXTRA_CA_CERTS: AUTHORITY, LOG_LEVEL: "info", HOST: host, ADMIN_HOST: host },
      ...{ PUBLIC_BASE_URL: `http://${host}:${API_PORT}`, WEBHOOK_ALLOW_PRIVATE_ADDRESSES: "true" },
      ...{ SMTP_URL: mail.url, MAIL_FROM: "outreach@acme.test", DNS_SERVERS: names.address },
    },
    api: { DATABASE_URL: address("api"), CURSOR_KEY: SECRETS_KEY, SHUTDOWN_DELAY_SECONDS: "0" },
    worker: { DATABASE_URL: address("worker"), ...clocks.worker?.environment },
    console: { DATABASE_URL: address("operator"), CONSOLE_URL: `http://${host}:8090` },
    migrate: { DATABASE_URL: address("owner") },
    operator: { DATABASE_URL: address("operator"), CURSOR_KEY: SECRETS_KEY },
  }
  const writeSettings = async (name: string, more: Readonly<Record<string, string>> = {}) => {
    const lines = Object.entries({ ...files[name], ...more }).map(([setting, text]) => `${setting}=${text}\n`)
    await writeFile(join(etc, `${name}.env`), lines.join(""))
  }
  for (const name of Object.keys(files)) await writeSettings(name)

  await cp(artifact, join(opt, "releases/this/out"), { recursive: true })
  /** Links /opt/outreach/current to a release, as a deployment does. */
  const deploy = async (release: string) => {
    await rm(join(opt, "current"), { force: true })
    await symlink(join(opt, "releases", release), join(opt, "current"))
  }
  await deploy("this")
  const sourcing = (name: string) =>
    `#!/bin/bash\nset -a\nsource <(sed "s/=\\(.*\\)/='\\1'/" ${etc}/outreach.env ${etc}/${name}.env)\n`
  const grants = ROLES.slice(1).map((role) => `${role}=outreach_${role}`)
  await script("ops", `${sourcing("operator")}exec ${process.execPath} ${opt}/current/out/ops.js "$@"\n`)
  await script(
    "migrate",
    `${sourcing("migrate")}exec ${process.execPath} ${opt}/current/out/ops.js migrate --grant-to ${grants.join(",")}\n`,
  )
  const opsJson = async (...args: ReadonlyArray<string>) =>
    JSON.parse((await run(join(bin, "ops"), [...args, "--output", "json"], { cwd: folder })).stdout)

  const unitOf = (name: Unit) =>
    startUnit(
      name,
      {
        program: join(opt, "current/out", `${name}.js`),
        environmentFiles: ["outreach", name].map((file) => join(etc, `${file}.env`)),
        cwd: folder,
      },
      atEnd,
    )
  const units = { api: unitOf("api"), worker: unitOf("worker"), console: unitOf("console") }
  const postgres = {
    stop: () => stopServer({ data: database.dataDirectory }, "fast"),
    start: database.restart,
    restart: database.restart,
  }
  /** A fault sets how the program that reads the logs restarts. */
  const journald = { restart: async (): Promise<void> => {} }
  const migrate = async () => void (await run(join(bin, "migrate"), { cwd: folder }))
  const services: Readonly<Record<string, object>> = {
    ...{ postgresql: postgres, postfix: mail, named: names, chrony: clocks, "systemd-journald": journald },
    ...{ "outreach@api": units.api, "outreach@worker": units.worker, "outreach@console": units.console },
    "outreach-migrate": { start: migrate },
  }
  /** The verbs of `systemctl` that the page uses. */
  const systemctl = async ([verb = "", ...args]: ReadonlyArray<string>): Promise<void> => {
    const [method, names, property] =
      verb === "set-property" ? ["setProperty", args.slice(0, 1), args.slice(1)] : [verb, args, []]
    for (const name of names) {
      const does = (services[name] as Readonly<Record<string, (...args: ReadonlyArray<string>) => unknown>>)?.[method]
      if (does === undefined) throw new Error(`systemctl ${verb} ${name} is unknown here`)
      await does(...property)
    }
  }
  const controlServer = createServer(async (request, response) => {
    const args = JSON.parse(Buffer.concat(await request.toArray()).toString()) as ReadonlyArray<string>
    const fault = await systemctl(args).then(
      () => "",
      (error) => String(error),
    )
    response.writeHead(fault === "" ? 200 : 500).end(fault)
  })
  await script(
    "systemctl",
    `#!${process.execPath}
fetch("http://127.0.0.1:${await listen(controlServer, atEnd)}/", { method: "POST", body: JSON.stringify(process.argv.slice(2)) })
  .then(async (response) => { process.stderr.write(await response.text()); process.exitCode = response.ok ? 0 : 1 })\n`,
  )

  await script("chronyc", "#!/bin/sh\nexec systemctl restart chrony\n")

  await migrate()
  const partner = await createPartner(opsJson, atEnd)
  const { url } = await opsJson("endpoints", "show", partner.endpointId, "--reveal")
  proxy.leadTo(Number(new URL(url).port))
  await opsJson("endpoints", "update", partner.endpointId, "--url", proxy.url)
  const second = await opsJson("endpoints", "create", ...partner.ofAcme, "--url", proxy.url)
  const endpointIds = [partner.endpointId, second.id as string]
  const campaignId = await createCampaign(opsJson, {
    ...{ programId: partner.programId, folder, recipients: RECIPIENTS },
    flags: ["--per-minute", String(PER_MINUTE)],
  })
  await opsJson("campaigns", "schedule", campaignId)
  for (const unit of Object.values(units)) await unit.start()

  const prometheus = await startPrometheus({ unpacked: programs.prometheus, folder, host }, atEnd)
  const traffic = startTraffic({ apiUrl: `http://${host}:${API_PORT}`, ...partner }, atEnd)
  const readAdmin = (unit: Unit, path: string): Promise<string> =>
    fetch(`http://${host}:${ADMIN_PORTS[unit]}${path}`, { signal: AbortSignal.timeout(5000) }).then(
      (response) => response.text(),
      () => "no response",
    )
  const readyz = (unit: Unit) => readAdmin(unit, "/readyz")
  /** Reads a counter of a process, with the process's own labels. */
  const metric = async (unit: Unit, series: string): Promise<number> => {
    const text = await readAdmin(unit, "/metrics")
    const line = text.split("\n").find((each) => each.startsWith(`${series} `))
    return Number(line?.split(" ")[1] ?? 0)
  }
  const admin = (text: string) =>
    withClient(superuser.href, async (client) => (await client.query<Record<string, unknown>>(text)).rows)
  /** Waits until all processes are ready, an e-mail and a webhook were sent, and an accepted inbound event is applied. */
  const healthy = async (): Promise<void> => {
    const since = performance.now()
    await eventually(
      () => Promise.all((["api", "worker", "console"] as const).map(readyz)),
      (all) => all.every((text) => text === "ready\n"),
      LIMIT_MS,
    )
    await eventually(
      () => [mail.arrived.at(-1) ?? 0, proxy.accepted.at(-1) ?? 0, traffic.accepted.at(-1)?.at ?? 0],
      (times) => times.every((at) => at > since),
      LIMIT_MS,
    )
    const { id } = traffic.accepted.at(-1)!
    await eventually(
      () => admin(`select from inbox where event_id = '${id}' and applied_at is not null`),
      (rows) => rows.length === 1,
      LIMIT_MS,
    )
  }
  await healthy()
  return {
    ...{ folder, disk, host, units, superuser, mail, proxy, names, traffic },
    ...{ prometheus, shell, readyz, admin, healthy, deploy, writeSettings, opsJson, clocks },
    ...{ journald, metric, endpointIds },
    atEnd,
  }
}

/** Time limit for a signal or the recovery. */
export const LIMIT_MS = 120_000

export type Stage = Awaited<ReturnType<typeof startStage>>

/** Mounts a file system in memory until the end of the run. */
export const mountTmpfs = (folder: string, options: string, atEnd: AtEnd): void => {
  execFileSync("mount", ["-t", "tmpfs", "-o", options, "tmpfs", folder])
  atEnd(async () => void execFileSync("umount", ["--lazy", folder]))
}

/** Sends an inbound event every half second, and records the ids of accepted ones. */
const startTraffic = (
  to: {
    readonly apiUrl: string
    readonly endpointId: string
    readonly signingSecret: string
    readonly issueKey: () => Promise<string>
  },
  atEnd: AtEnd,
) => {
  const accepted: Array<{ readonly at: number; readonly id: string }> = []
  const over = new AbortController()
  const client = createClient({ apiKey: "unused", baseUrl: to.apiUrl, retryDelays: [] })
  const send = async () => {
    for (let n = RECIPIENTS; !over.signal.aborted; n++) {
      const event = accountCreated(n)
      await client
        .sendEvent(to.endpointId, event, { secrets: [to.signingSecret] })
        .then(() => accepted.push({ at: performance.now(), id: event.event_id }))
        .catch(() => {})
      await new Promise((resolve) => setTimeout(resolve, 500))
    }
  }
  const sending = send()
  atEnd(async () => {
    over.abort()
    await sending
  })
  return { accepted }
}

/** The clocks of PostgreSQL and the worker, if they are adjustable. */
const startClocks = async (isWanted: boolean, atEnd: AtEnd) => {
  const right = { set: async () => {}, restart: async () => {} }
  if (!isWanted) return { missing: "the stage has no clocks", ...right }
  const found = findProgram("libfaketime")
  if ("missing" in found) return { ...found, ...right }
  const [database, worker] = [await settableClock(found.program, atEnd), await settableClock(found.program, atEnd)]
  const set = async (ahead: { readonly worker: number; readonly database: number }) => {
    await database.set(ahead.database)
    await worker.set(ahead.worker)
  }
  return { database, worker, set, restart: () => set({ worker: 0, database: 0 }) }
}
