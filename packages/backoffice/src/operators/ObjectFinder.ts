import { DescribedError } from "@outreach/domain/DescribedError"
import { type DeliveryId, isIdentifier, OrganizationId } from "@outreach/domain/Identifier"
import { reader } from "@outreach/postgres/adapter"
import { rowsOf } from "@outreach/postgres/rowsOf"
import { Array as Arr, Effect, Schema } from "effect"
import { DeliveryReader } from "../deliveries/DeliveryReader.ts"

const FoundObject = Schema.Struct({
  id: Schema.String,
  /** Null for objects of no organization, or of all. */
  organizationId: Schema.NullOr(OrganizationId),
  /** The id of the object on whose page it is shown: by default its own. A partner's event is in the `inbox`. */
  shownOn: Schema.String,
})
export type FoundObject = typeof FoundObject.Type

export const NAMED_KINDS = ["organization", "program", "campaign", "sender", "operator"] as const

const NamedObject = Schema.Struct({
  kind: Schema.Literals(NAMED_KINDS),
  id: Schema.String,
  name: Schema.String,
  organizationId: Schema.NullOr(OrganizationId),
  /** Distinguishes it from others of its name: a slug, a status, an address or a role. */
  note: Schema.String,
})
export type NamedObject = typeof NamedObject.Type

/** Maximum number of objects of each kind for a name. */
export const MAX_NAMED = 20

/** Objects with an organization and an id in their key are found by an index in each organization. */
const inOrganizations = (table: string, shownOn = "id", id = "id") => `
  select thing.id, organization.id as organization_id, shown_on from organizations organization cross join lateral (
    select ${id} as id, ${shownOn} as shown_on from ${table}
    where organization_id = organization.id and ${id} = any ((select ids from wanted)::text[]) offset 0
  ) thing`

/** The kinds of objects by their ids' prefix. */
const THINGS: Readonly<Record<string, string>> = {
  org: "select id, id as organization_id, id as shown_on from organizations",
  pgm: inOrganizations("programs"),
  cmp: inOrganizations("campaigns"),
  rcp: inOrganizations("recipients"),
  snd: inOrganizations("senders"),
  dkm: inOrganizations("dkim_keys", "sender_id"),
  ers: inOrganizations("erasures"),
  imp: inOrganizations("imports"),
  hit: inOrganizations("hits", "recipient_id"),
  fgr: inOrganizations("failure_groups"),
  evt: `${inOrganizations("events")} union all ${inOrganizations("inbox_keys", "'inbox'", "event_id")}`,
  // The other deliveries are in the log, or in rows of several.
  dlv: `
    select id, organization_id, id as shown_on from dead_letters
    union all select id, organization_id, id from deliveries`,
  whe: "select id, organization_id, id as shown_on from webhook_endpoints",
  key: "select id, organization_id, organization_id as shown_on from api_keys",
  sec: "select id, organization_id, coalesce(endpoint_id, organization_id) as shown_on from signing_secrets",
  opr: "select id, organization_id, id as shown_on from operators",
  rst: "select id, null::text as organization_id, id as shown_on from restores",
  ses: `
    select session.id, organization_id, operator_id as shown_on
    from operator_sessions session join operators operator on operator.id = operator_id`,
  rpl: `
    select job.id, coalesce(job.organization_id, endpoint.organization_id) as organization_id, job.id as shown_on
    from replay_jobs job left join webhook_endpoints endpoint on endpoint.id = job.endpoint_id`,
}

interface NamedList {
  readonly table: string
  /** Default `name`. */
  readonly name?: string
  readonly note: string
  /** The searched columns. Default: the name. */
  readonly searched?: string
}

const NAMED: Readonly<Record<NamedObject["kind"], NamedList>> = {
  organization: { table: "(select id, id as organization_id, name from organizations)", note: "''" },
  program: { table: "programs", note: "slug", searched: "name || ' ' || slug" },
  campaign: { table: "campaigns", note: "status" },
  sender: { table: "senders", name: "from_name", note: "from_address", searched: "from_name || ' ' || from_address" },
  operator: { table: "(select * from operators where removed_at is null)", note: "role" },
}

const objects = rowsOf(FoundObject)
const namedObjects = rowsOf(NamedObject)

/** Finds objects by id, and by parts of their names. */
export const ObjectFinder = reader("ObjectFinder", function* (sql) {
  const deliveries = yield* DeliveryReader

  const isIn = (organizationId: OrganizationId | null) =>
    sql`(${organizationId}::text is null or organization_id = ${organizationId})`

  const findDelivery = (id: string) =>
    deliveries.find(id as DeliveryId).pipe(
      Effect.map(({ delivery }) => [{ id, organizationId: delivery.organizationId, shownOn: id }]),
      Effect.catchTag("DeliveryNotFound", () => Effect.succeed([])),
    )

  const findOfPrefix = Effect.fnUntraced(function* (
    prefix: string,
    ids: ReadonlyArray<string>,
    organizationId: OrganizationId | null,
  ) {
    const things = THINGS[prefix]
    if (things === undefined) return []
    const stored = yield* sql`
        with wanted as materialized (select ${ids}::text[] as ids)
        select ${objects.columns} from (${sql.literal(things)}) thing
        where id = any ((select ids from wanted)::text[]) and ${isIn(organizationId)}
        order by id, organization_id`.pipe(objects.decode)
    if (prefix !== "dlv") return stored
    const others = ids.filter((id) => !stored.some((each) => each.id === id))
    const found = (yield* Effect.forEach(others, findDelivery)).flat()
    return [...stored, ...found.filter((each) => organizationId === null || each.organizationId === organizationId)]
  })

  /** Finds the objects of ids in one organization, or in all. Partners choose the ids of their events, so an id can have several. */
  const find = Effect.fnUntraced(function* (ids: ReadonlyArray<string>, organizationId: OrganizationId | null) {
    const groups = Object.entries(Arr.groupBy(new Set(ids), (id) => id.slice(0, 3)))
    const found = yield* Effect.forEach(groups, ([prefix, group]) => findOfPrefix(prefix, group, organizationId))
    return found.flat()
  })

  const ofKind = (kind: NamedObject["kind"], organizationId: OrganizationId | null) => {
    const { table, name = "name", note, searched = name }: NamedList = NAMED[kind]
    const columns = sql.literal(
      `'${kind}' as kind, ${name} as name, ${note} as note, strpos(${folded(searched)}, (select part from term)) as place`,
    )
    return sql`(
      select ${namedObjects.columns} from (
        select id, organization_id, ${columns} from ${sql.literal(table)} thing where ${isIn(organizationId)} offset 0
      ) thing
      where place > 0 order by place, id desc limit ${MAX_NAMED})`
  }

  return {
    find,
    /** Finds objects of one organization, or of all, by a part of their names, ignoring case and accents. Names that start with it come first. */
    findNamed: (part: string, organizationId: OrganizationId | null, kinds: ReadonlyArray<NamedObject["kind"]>) =>
      sql`
          with term as materialized (select ${sql.literal(folded("part"))} as part from (select ${part}::text as part) given)
          ${sql.join(" union all ", false)(kinds.map((kind) => ofKind(kind, organizationId)))}`.pipe(
        namedObjects.decode,
      ),
    /** Reports whether every id belongs to an object of the organization. Unknown ids and kinds belong to none. */
    areOwned: (organizationId: OrganizationId, ids: ReadonlyArray<string>) =>
      Effect.map(find(ids, organizationId), (found) => {
        const known = new Set(found.map(({ id }) => id))
        return ids.every((id) => known.has(id))
      }),
  }
})

/** Returns the SQL of a text for searches: without case and accents. */
const folded = (text: string): string => `regexp_replace(normalize(lower(${text}), nfkd), '[\\u0300-\\u036f]', '', 'g')`

class IdNotFound extends DescribedError(
  "IdNotFound",
  ({ ids }: { readonly ids: ReadonlyArray<string> }) => `Nothing has the id ${ids.join(" or ")}.`,
) {}

/** Fails if an id of a filter without results is unknown, so that a mistyped id doesn't look like an empty result. */
export const checkIds = Effect.fnUntraced(function* (filter: object) {
  const ids = Object.values(filter)
    .flat()
    .filter((value): value is string => typeof value === "string" && isIdentifier(value))
  if (ids.length === 0) return
  const found = yield* ObjectFinder.use(({ find }) => find(ids, null))
  const unknown = ids.filter((id) => !found.some((each) => each.id === id))
  if (unknown.length > 0) return yield* new IdNotFound({ ids: unknown })
})
