import { DatabaseService } from "@outreach/postgres/adapter"
import { decodeRows } from "@outreach/postgres/rowsOf"
import { Effect, Schema } from "effect"

/** The tables of ids by their prefixes, and the column that names a thing. None names a person. */
const SOURCES: Readonly<Record<string, readonly [table: string, name: string]>> = {
  org: ["organizations", "name"],
  pgm: ["programs", "name"],
  cmp: ["campaigns", "name"],
  key: ["api_keys", "name"],
  snd: ["senders", "dkim_domain"],
  whe: ["(select * from webhook_endpoints where removed_at is null)", "''"],
  sec: ["signing_secrets", "''"],
  dlv: ["(select id from dead_letters where replayed_as is null)", "''"],
  fgr: ["failure_groups", "''"],
  rpl: ["replay_jobs", "kind"],
  imp: ["imports", "''"],
  opr: ["(select * from operators where removed_at is null)", "role"],
  rst: ["restores", "''"],
}

const MAX_IDS = 50

const decodeIds = decodeRows({ id: Schema.String, name: Schema.String })

/** Reads the ids that complete what is typed on the command line. */
export class IdReader extends DatabaseService<IdReader>()("backoffice/operators/IdReader", (sql) => ({
  /** Lists ids of a prefix, newest first, that begin with a text, or whose name does; none for what is about persons. */
  beginning: (prefix: string, text: string) => {
    const source = Object.hasOwn(SOURCES, prefix) ? SOURCES[prefix] : undefined
    if (source === undefined) return Effect.succeed([])
    const [table, name] = source.map((each) => sql.literal(each)) as [
      ReturnType<typeof sql.literal>,
      ReturnType<typeof sql.literal>,
    ]
    return sql`
      select id, ${name} as name from ${table} named
      where starts_with(id, ${text}) or starts_with(lower(${name}), lower(${text}))
      order by id desc limit ${MAX_IDS}`.pipe(decodeIds)
  },
})) {}
