import { execFile } from "node:child_process"
import { readlink, writeFile } from "node:fs/promises"
import { basename, join } from "node:path"
import { promisify } from "node:util"
import { Client } from "pg"
import type { Fault } from "./Fault.ts"
import { CERTIFICATES } from "./startServers.ts"
import { canMount, type Stage } from "./startStage.ts"

const run = promisify(execFile)

/** Opens a connection that is closed with the stage or by the server. */
const connect = async ({ superuser, atEnd }: Stage, more: Readonly<Record<string, unknown>> = {}) => {
  const client = new Client({ connectionString: superuser.href, ...more })
  client.on("error", () => {})
  await client.connect()
  atEnd(() => client.end().catch(() => {}))
  return client
}

const settle = async (stage: Stage, setting: string) => {
  await stage.admin(`alter system set ${setting}`)
  await stage.admin("select pg_reload_conf()")
}

/** Closes the sessions of the service, which reconnects. */
const endSessions = (stage: Stage) =>
  stage.admin("select pg_terminate_backend(pid) from pg_stat_activity where usename like 'outreach%'")

export const databaseFaults: ReadonlyArray<Fault> = [
  {
    name: "postgresql-stopped",
    fault: "PostgreSQL is stopped",
    signals: [
      { alert: "OutreachDatabaseUnusable" },
      { readyz: "(ECONNREFUSED)", of: "api" },
      { readyz: "(ECONNREFUSED)", of: "console" },
      { log: "database unusable", of: "worker" },
      { prints: "nothing listens" },
    ],
    remedy: ["systemctl start postgresql"],
    break: async (stage) => void (await stage.shell("systemctl stop postgresql")),
  },
  {
    name: "read-only",
    fault: "Transactions are read-only, as on a standby",
    signals: [
      { alert: "OutreachDatabaseUnusable" },
      { readyz: "(25006)", of: "api" },
      { log: "database unusable", of: "worker" },
      { prints: "(25006)" },
    ],
    remedy: [`psql -c "alter system reset default_transaction_read_only" -c "select pg_reload_conf()"`],
    break: (stage) => settle(stage, "default_transaction_read_only = on"),
  },
  {
    name: "no-connection-left",
    fault: "Another program uses all connections",
    signals: [{ alert: "OutreachDatabaseUnusable" }, { readyz: "(53300)", of: "worker" }, { log: "53300", of: "api" }],
    remedy: [
      `psql -c "select usename, application_name, count(*) from pg_stat_activity group by 1, 2 order by 3 desc"`,
      `psql -c "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'report'"`,
    ],
    break: async (stage) => {
      await stage.admin("create role report login password 'report'").catch(() => {})
      const login = Object.assign(new URL(stage.superuser), { username: "report", password: "report" })
      await stage.admin("grant connect on database outreach to report")
      await endSessions(stage)
      for (let opened = 0; opened < 200; opened++) {
        try {
          await connect(stage, { connectionString: login.href, application_name: "report" })
        } catch {
          await endSessions(stage)
          break
        }
      }
      for (let opened = 0; opened < 60; opened++) {
        await connect(stage, { connectionString: login.href, application_name: "report" }).catch(() => {})
      }
    },
  },
  {
    name: "lock-held",
    fault: "An idle transaction locks a table",
    signals: [
      { alert: "OutreachClaimsFail" },
      { readyz: "no claim has succeeded for", of: "worker" },
      { log: "endpoints failed", of: "worker" },
    ],
    remedy: [
      `psql -c "select pid, usename, application_name, state, xact_start, pg_blocking_pids(pid), query from pg_stat_activity order by xact_start"`,
      `psql -c "select pg_terminate_backend(blocker) from (select distinct unnest(pg_blocking_pids(pid)) as blocker from pg_stat_activity) held join pg_stat_activity on pid = blocker where state = 'idle in transaction'"`,
    ],
    break: async (stage) => {
      const client = await connect(stage, { application_name: "maintenance" })
      await client.query("begin")
      await client.query("lock table endpoint_readers in access exclusive mode")
    },
  },
  {
    name: "certificate-expired",
    fault: "The certificate of PostgreSQL has expired",
    signals: [
      { alert: "OutreachDatabaseUnusable" },
      { readyz: "(CERT_HAS_EXPIRED)", of: "api" },
      { prints: "(CERT_HAS_EXPIRED)" },
    ],
    remedy: ["cp renewed.pem /var/lib/postgresql/data/server.crt", `psql -c "select pg_reload_conf()"`],
    break: async (stage) => {
      await writeFile(join(stage.folder, "renewed.pem"), CERTIFICATES.valid)
      await writeFile(join(stage.disk, "data/server.crt"), CERTIFICATES.expired)
      await stage.admin("select pg_reload_conf()")
      // Open connections keep working, until they are reopened sooner or later.
      await endSessions(stage)
    },
  },
  {
    name: "wrong-password",
    fault: "The password of the worker's role was changed",
    signals: [{ alert: "OutreachDatabaseUnusable" }, { readyz: "(28P01)", of: "worker" }],
    remedy: [`psql -c "alter role outreach_worker password 'worker-password'"`],
    break: async (stage) => {
      await stage.admin("alter role outreach_worker password 'rotated'")
      await endSessions(stage)
    },
  },
  {
    name: "rights-missing",
    fault: "The worker's role has no rights, as after a restore without grants",
    signals: [
      { alert: "OutreachDatabaseUnusable" },
      { readyz: "(42501)", of: "worker" },
      { log: "database unusable", of: "worker" },
    ],
    remedy: ["systemctl start outreach-migrate"],
    break: async (stage) => void (await stage.admin("revoke all on all tables in schema public from outreach_worker")),
  },
  {
    name: "schema-too-old",
    fault: "A release was started before its migration",
    signals: [
      { alert: "OutreachDatabaseUnusable" },
      { readyz: "(OLD_SCHEMA)", of: "worker" },
      { readyz: "(OLD_SCHEMA)", of: "console" },
      { prints: "(OLD_SCHEMA)" },
    ],
    remedy: ["systemctl start outreach-migrate"],
    break: async (stage) => {
      await run("cp", ["-r", join(stage.folder, "opt/releases/this"), join(stage.folder, "opt/releases/next")])
      await writeFile(
        join(stage.folder, "opt/releases/next/out/sql/migrations/0002_notes.sql"),
        "alter table recipients add column note text;\n",
      )
      await stage.deploy("next")
      for (const unit of Object.values(stage.units)) await unit.restart()
    },
  },
  {
    name: "schema-too-new",
    fault: "An old release runs after a newer migration removed its functions",
    signals: [
      { alert: "OutreachDeliveriesLate" },
      { log: "42883", of: "worker" },
      { prints: "which has removed functions of this one: take_endpoints" },
    ],
    remedy: [
      "ln -sfn /opt/outreach/releases/newer /opt/outreach/current",
      "systemctl restart outreach@api outreach@worker outreach@console",
    ],
    break: async (stage) => {
      const current = basename(await readlink(join(stage.folder, "opt/current")))
      // The newer release calls the function by another name.
      const commands = [
        `cp -r ${stage.folder}/opt/releases/${current} ${stage.folder}/opt/releases/newer`,
        `cd ${stage.folder}/opt/releases/newer/out`,
        `echo 'alter table recipients add column remark text;' > sql/migrations/${current === "next" ? "0003" : "0002"}_remarks.sql`,
        "mv sql/functions/take_endpoints.sql sql/functions/take_endpoints_anew.sql",
        "sed -i 's/take_endpoints(/take_endpoints_anew(/' sql/functions/take_endpoints_anew.sql chunks/*.js *.js",
      ]
      await run("sh", ["-ec", commands.join("\n")])
      await stage.deploy("newer")
      await stage.shell("systemctl start outreach-migrate")
      await stage.deploy(current)
      await stage.units.worker.restart()
    },
  },
  {
    name: "disk-full",
    fault: "The disk of PostgreSQL is full",
    lacks: () => (canMount ? undefined : "only root mounts a small disk"),
    signals: [{ alert: "OutreachDatabaseUnusable" }, { log: "database unusable", of: "worker" }],
    remedy: ["df -h /var/lib/postgresql", "rm /var/lib/postgresql/core.*", "systemctl restart postgresql"],
    break: async (stage) => {
      await run("sh", ["-c", `dd if=/dev/zero of=${stage.disk}/core.1 bs=64k 2>/dev/null || true`])
    },
  },
]
