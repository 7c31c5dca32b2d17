import { AUDIT_RESULTS, type AuditEntry, AuditLog } from "@outreach/backoffice/operators/AuditLog"
import { OrganizationReader } from "@outreach/backoffice/organizations/OrganizationReader"
import { OrganizationId } from "@outreach/domain/Identifier"
import { Instant } from "@outreach/domain/Instant"
import { textSchema } from "@outreach/domain/textSchema"
import { Effect, Schema } from "effect"
import { flagsOf } from "../../components/format.ts"
import { Choice, Field, FilterBar, OrganizationChoice } from "../../components/forms.tsx"
import { Pager, Table } from "../../components/lists.tsx"
import { Code, ForeignText, IdLink, isolated, StatusBadge, Time, type Tone } from "../../components/values.tsx"
import { oneOf } from "../../http/inputs.ts"
import { definePage } from "../../http/Route.ts"

const PAGE_SIZE = 50

const TONES: Readonly<Record<AuditEntry["result"], Tone>> = {
  succeeded: "good",
  failed: "bad",
  interrupted: "warning",
  unfinished: "warning",
}

/** Where the next page begins: an entry's id without its prefix. An entry is not of an organization. */
const Before = textSchema("the end of another page, from its link", (text) =>
  /^[0-9a-f]{32}$/.test(text) ? `aud_${text}` : undefined,
)

/** Who did what, newest first. An operator of one organization sees what concerns that one. */
export const auditPage = definePage({
  path: "/audit",
  query: {
    organization: OrganizationId,
    command: Schema.String,
    operator: Schema.String,
    result: oneOf(AUDIT_RESULTS),
    from: Instant,
    to: Instant,
    before: Before,
  },
  read: Effect.fnUntraced(function* ({ before, ...filters }, { operator }) {
    const { organization: organizationId, ...rest } = filters
    const { entries, next } = yield* (yield* AuditLog).page({ organizationId, ...rest, before }, PAGE_SIZE)
    const organizations = yield* (yield* OrganizationReader).list
    const names = new Map<string, string>(organizations.map(({ id, name }) => [id, name]))
    return {
      title: "Audit",
      commands: [`ops audit list${flagsOf(filters)}`],
      body: (
        <>
          <FilterBar action="/audit" values={filters}>
            <OrganizationChoice organizations={organizations} all="All" />
            <Field name="command" label="Command" placeholder="campaigns pause" hint="A command, or its first word" />
            <Field name="operator" label="Operator" hint="A name, a system user or a database role" />
            <Choice name="result" label="Result" all="All" options={AUDIT_RESULTS} />
            <Field name="from" label="From" placeholder="2026-12-01T09:00:00Z" size={22} />
            <Field name="to" label="Before" placeholder="2026-12-02T09:00:00Z" size={22} />
          </FilterBar>
          <Table
            caption="What operators did, newest first"
            rows={entries}
            empty={
              next === null
                ? "Nothing was done that matches. What operators change, and the personal data that they look at, would stand here."
                : "None of the newest commands matches. The next page looks further back."
            }
            columns={{
              "Time (UTC)": ({ begunAt }) => <Time at={begunAt} />,
              Who: (entry) => <Who entry={entry} />,
              Command: ({ command }) => <Code>{command}</Code>,
              Arguments: (entry) => <Arguments given={entry.arguments} />,
              Result: (entry) => <Result entry={entry} />,
              Organizations:
                operator.organizationId === null &&
                ((entry) => <Organizations ids={entry.organizations} names={names} />),
            }}
          />
          <Pager next={next === null ? undefined : { before: next.slice("aud_".length) }} />
        </>
      ),
    }
  }),
})

const Who = ({ entry: { operator, osUser, host, role } }: { readonly entry: AuditEntry }) => (
  <span title={`System user ${osUser} on ${host}, database role ${role}`}>
    <ForeignText>{operator ?? `${osUser} (${host})`}</ForeignText>
  </span>
)

const Arguments = ({ given }: { readonly given: AuditEntry["arguments"] }) => (
  <ul class="plain">
    {Object.entries(given).map(([name, value]) => (
      <li key={name}>
        {name}
        {value !== true && <>: {value === null ? <small>withheld</small> : <Value value={value} />}</>}
      </li>
    ))}
  </ul>
)

const Value = ({ value }: { readonly value: NonNullable<AuditEntry["arguments"][string]> }) => (
  <>
    {(Array.isArray(value) ? value : [value]).map((each, i) => (
      <span key={i}>
        {i > 0 && ", "}
        {/^[a-z]{3}_[0-9a-f]{32}$/.test(String(each)) ? <IdLink id={String(each)} /> : isolated(String(each))}
      </span>
    ))}
  </>
)

const Result = ({ entry: { result, code, endedAt } }: { readonly entry: AuditEntry }) => (
  <>
    <StatusBadge tone={TONES[result]}>{result}</StatusBadge> {code !== null && <Code>{code}</Code>}
    {endedAt === null && <small>still under way, or killed</small>}
  </>
)

const Organizations = (props: {
  readonly ids: AuditEntry["organizations"]
  readonly names: ReadonlyMap<string, string>
}) =>
  props.ids.length === 0 ? (
    <>–</>
  ) : (
    <ul class="plain">
      {props.ids.map((id) => (
        <li key={id}>
          <IdLink id={id}>{props.names.get(id) ?? id}</IdLink>
        </li>
      ))}
    </ul>
  )
