import type { DatabaseSync } from "node:sqlite"
import type { Outcome, Policy } from "@outreach/retry-policy"

/** A call that is to be made, as it is handed to a worker. */
export interface Job {
  readonly id: number
  readonly url: string
  readonly body: string
  /** Which attempt this is, from 1. */
  readonly attempt: number
  /** When the first attempt began, in Unix milliseconds. */
  readonly firstAt: number
}

export interface QueueOptions {
  /** For how long a job stays with a worker that does not settle it: longer than any call takes. Then it is due again. */
  readonly leaseMs: number
}

const TABLE = `create table if not exists jobs (
  id integer primary key,
  url text not null,
  body text not null,
  state text not null default 'waiting' check (state in ('waiting', 'done', 'dead')),
  attempt integer not null default 0,
  first_at integer,
  due_at integer not null,
  reason text
) strict;
create index if not exists jobs_due on jobs (due_at) where state = 'waiting'`

/** Creates a queue in a database. Everything that it knows is in there, so that a worker may be killed at any moment. */
export function createQueue(database: DatabaseSync, policy: Policy, { leaseMs }: QueueOptions) {
  database.exec("pragma journal_mode = wal; pragma busy_timeout = 5000")
  database.exec(TABLE)
  const insert = database.prepare("insert into jobs (url, body, due_at) values (?, ?, ?) returning id")
  const find = database.prepare(`select id, url, state, attempt, due_at as "dueAt", reason from jobs where id = ?`)
  // The attempt counts from here on, so that a job whose worker is killed is repeated like one that failed.
  const lease = database.prepare(`
    update jobs set attempt = attempt + 1, first_at = coalesce(first_at, :now), due_at = :now + :lease
    where id in (select id from jobs where state = 'waiting' and due_at <= :now order by due_at limit :most)
    returning id, url, body, attempt, first_at as "firstAt"`)
  // Nothing is written about an attempt that another worker has repeated since.
  const write = database.prepare(`
    update jobs set state = :state, due_at = :dueAt, reason = :reason
    where id = :id and attempt = :attempt and state = 'waiting'`)

  return {
    add: (url: string, body: string): number => Number(insert.get(url, body, Date.now())?.["id"]),
    find: (id: number) => find.get(id),
    lease: (most: number): Job[] => lease.all({ now: Date.now(), lease: leaseMs, most }) as unknown as Job[],
    settle: ({ id, attempt, firstAt }: Job, outcome: Outcome): void => {
      const now = Date.now()
      const next = policy.next({ attempt, outcome, elapsed: now - firstAt, random: Math.random })
      const settled = next.retry
        ? { state: "waiting", dueAt: now + Math.ceil(next.delay), reason: outcome.reason }
        : next.because === "success"
          ? { state: "done", dueAt: now, reason: outcome.reason }
          : { state: "dead", dueAt: now, reason: `${outcome.reason}, ${next.because}` }
      write.run({ id, attempt, ...settled })
    },
  }
}
