import { OrganizationId } from "@outreach/domain/Identifier"
import { Instant } from "@outreach/domain/Instant"
import { textSchema } from "@outreach/domain/textSchema"
import { AUDIT_RESULTS, type AuditEntry, AuditLog } from "@outreach/postgres/operators/AuditLog"
import { OrganizationRepository } from "@outreach/postgres/organizations/OrganizationRepository"
import { Effect, Schema } from "effect"
import { Choice, Field, FilterBar } from "../../components/Field.tsx"
import { ForeignText } from "../../components/ForeignText.tsx"
import { IdLink } from "../../components/IdLink.tsx"
import { OrganizationChoice } from "../../components/OrganizationChoice.tsx"
import { Pager } from "../../components/Pager.tsx"
import { StatusBadge, type Tone } from "../../components/StatusBadge.tsx"
import { Table } from "../../components/Table.tsx"
import { Time } from "../../components/Time.tsx"
import { useView } from "../../components/View.ts"
import { definePage } from "../../http/Route.ts"

const PAGE_SIZE = 50

const TONES: Readonly<Record<AuditEntry["result"], Tone>> = {
  succeeded: "good",
  failed: "bad",
  interrupted: "warning",
  unfinished: "warning",
}

/** Where the next page begins: an entry's id without its prefix. It is nothing of an organization. */
const Position = textSchema("the end of another page, from its link", (text) =>
  /^[0-9a-f]{32}$/.test(text) ? `aud_${text}` : undefined,
)

/** Who did what, newest first. An operator of one organization sees what concerns that one. */
export const auditPage = definePage({
  path: "/audit",
  section: "audit",
  role: "viewer",
  params: {},
  query: {
    organization: OrganizationId,
    command: Schema.String,
    operator: Schema.String,
    result: Schema.Literals(AUDIT_RESULTS).annotate({ expected: `one of ${AUDIT_RESULTS.join(", ")}` }),
    from: Instant,
    to: Instant,
    before: Position,
  },
  read: Effect.fnUntraced(function* ({ organization, before, ...given }, { operator }) {
    const organizationId = operator.organizationId ?? organization
    const filter = { organizationId, ...given }
    const { entries, next } = yield* (yield* AuditLog).page({ ...filter, before }, PAGE_SIZE)
    const organizations = yield* (yield* OrganizationRepository).list
    const names = new Map<string, string>(organizations.map(({ id, name }) => [id, name]))
    return {
      title: "Audit",
      commands: [
        `ops audit list${organizationId === undefined ? "" : ` --organization ${organizationId}`}${flagsOf(given)}`,
      ],
      body: (
        <>
          <FilterBar action="/audit">
            <OrganizationChoice organizations={organizations} value={organization} all="All" />
            <Field
              name="command"
              label="Command"
              value={given.command}
              placeholder="campaigns pause"
              hint="A command, or its first word"
            />
            <Field
              name="operator"
              label="Operator"
              value={given.operator}
              hint="A name, a system user or a database role"
            />
            <Choice
              name="result"
              label="Result"
              value={given.result}
              options={[["", "All"], ...AUDIT_RESULTS.map((result) => [result, result] as const)]}
            />
            <Field name="from" label="From" value={given.from} placeholder="2026-12-01T09:00:00Z" size={22} />
            <Field name="to" label="Before" value={given.to} placeholder="2026-12-02T09:00:00Z" size={22} />
          </FilterBar>
          <Table
            caption="What operators did, newest first"
            rows={entries}
            empty={
              next === null
                ? "Nothing was done that matches. What operators change, and the personal data that they look at, would stand here."
                : "None of the newest commands matches. The next page looks further back."
            }
            columns={[
              { header: "Time (UTC)", cell: ({ begunAt }) => <Time at={begunAt} /> },
              { header: "Who", cell: (entry) => <Who entry={entry} /> },
              {
                header: "Command",
                cell: ({ command }) => (
                  <code>
                    <ForeignText>{command}</ForeignText>
                  </code>
                ),
              },
              { header: "Arguments", cell: (entry) => <Arguments given={entry.arguments} /> },
              { header: "Result", cell: (entry) => <Result entry={entry} /> },
              ...(operator.organizationId === null
                ? [
                    {
                      header: "Organizations",
                      cell: (entry: AuditEntry) => <Organizations ids={entry.organizations} names={names} />,
                    },
                  ]
                : []),
            ]}
          />
          <NextPage next={next} />
        </>
      ),
    }
  }),
})

const flagsOf = (given: Readonly<Record<string, string | undefined>>): string =>
  Object.entries(given)
    .flatMap(([name, value]) => (value === undefined ? [] : [` --${name} "${value}"`]))
    .join("")

const NextPage = ({ next }: { readonly next: string | null }) => {
  const { address } = useView()
  return <Pager address={address} next={next === null ? undefined : { before: next.slice("aud_".length) }} />
}

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
        {/^[a-z]{3}_[0-9a-f]{32}$/.test(String(each)) ? (
          <IdLink id={String(each)} />
        ) : (
          <ForeignText>{String(each)}</ForeignText>
        )}
      </span>
    ))}
  </>
)

const Result = ({ entry: { result, code, endedAt } }: { readonly entry: AuditEntry }) => (
  <>
    <StatusBadge tone={TONES[result]}>{result}</StatusBadge>{" "}
    {code !== null && (
      <code>
        <ForeignText>{code}</ForeignText>
      </code>
    )}
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
