import type { PartitionState } from "@outreach/backoffice/inspection/SystemReader"
import { fromUnixMillis } from "@outreach/domain/Timestamp"
import { RELEASE } from "@outreach/process/release"
import { formatBytes, formatCount, formatDuration } from "../../components/format.ts"
import { Facts, Section, Table } from "../../components/layout.tsx"
import { StatusBadge, Time, useView } from "../../components/values.tsx"
import type { System } from "./systemPage.tsx"

const SystemTable = <Row,>(
  props: Omit<Parameters<typeof Table<Row>>[0], "rows"> & { readonly rows: ReadonlyArray<Row> | undefined },
) => (props.rows === undefined ? <NotRead /> : <Table {...props} rows={props.rows} />)

const NotRead = () => <p class="problem">This could not be read. The console's log and the database's say why.</p>

export const Processes = ({ processes, load, schema }: System) => (
  <Section title="Versions and processes">
    <Facts
      facts={{
        "Release of this console": RELEASE,
        PostgreSQL: known(load, ({ version }) => version.split(" ")[0]),
        "Workers alive": known(load, ({ workers }) => formatCount(workers)),
        "Newest migration": schema?.newest?.file.replace(/^migrations\/|\.sql$/g, "") ?? "–",
        Applied: <Time at={schema?.newest?.appliedAt} />,
        "Migrations applied": known(schema, ({ migrations }) => formatCount(migrations)),
        "Files pending": known(schema, ({ pending }) => formatPending(pending)),
        Connections: known(
          load,
          ({ connections, maxConnections: max }) => `${formatCount(connections)} of ${formatCount(max)}`,
        ),
        "Size of the database": known(load, ({ bytes }) => formatBytes(bytes)),
      }}
    />
    <SystemTable
      caption="Processes that are connected"
      rows={processes}
      empty="No process is connected."
      columns={{
        Process: ({ name }) => (name === "" ? "without a name" : name),
        Release: ({ release }) =>
          release === null || release === RELEASE ? (
            (release ?? "–")
          ) : (
            <StatusBadge tone="warning">{`${release}, another than this console's`}</StatusBadge>
          ),
        Address: ({ address }) => address ?? "–",
        Connections: { count: ({ connections }) => connections },
        "First connected": ({ since }) => <Time at={since} />,
      }}
    />
  </Section>
)

/** Returns a dash for an unknown value. */
const known = <A,>(value: A | undefined, textOf: (value: A) => string | undefined) =>
  value === undefined ? "–" : textOf(value)

const formatPending = (pending: ReadonlyArray<string>) =>
  pending.length === 0 ? "none" : `${formatCount(pending.length)}: ${pending.slice(0, 5).join(", ")}`

export const Server = ({ server }: System) => (
  <Section title="Server and standbys">{server === undefined ? <NotRead /> : <ServerFacts {...server} />}</Section>
)

const ServerFacts = (server: NonNullable<System["server"]>) => {
  const { role, timeline, synchronousStandbys, commitsWait, standbys, replayedSecondsAgo } = server
  return (
    <>
      {commitsWait === true && (
        <p class="problem">
          Commits wait for a synchronous standby that is not there: nothing can be written until it comes back.
        </p>
      )}
      <Facts
        facts={{
          Role: role,
          Timeline: timeline ?? "not known",
          "Synchronous standbys":
            synchronousStandbys === "" ? "none: a failover may lose the last commits" : synchronousStandbys,
          "Last commit replayed": replayedSecondsAgo !== null && `${formatDuration(replayedSecondsAgo)} ago`,
        }}
      />
      {standbys === null ? (
        <p class="empty">
          The role of this console may not see the standbys. A superuser can allow it: <code>grant pg_monitor</code> to
          the role.
        </p>
      ) : (
        <Table
          caption="Standbys"
          rows={standbys}
          empty="No standby replicates this server."
          columns={{
            Name: ({ name }) => name,
            Address: ({ address }) => address ?? "–",
            State: ({ state }) => state,
            Synchronous: ({ syncState }) => syncState,
            Behind: { number: ({ lagBytes }) => (lagBytes === null ? "–" : formatBytes(lagBytes)) },
            Lag: { number: ({ lagSeconds }) => `${lagSeconds.toFixed(1)} s` },
          }}
        />
      )}
    </>
  )
}

export const Storage = ({ partitions, tables }: System) => (
  <Section title="Storage">
    <SystemTable
      caption="Partitioned tables"
      rows={partitions}
      empty="No table has partitions."
      columns={{
        Table: ({ table }) => table,
        Partitions: { count: ({ partitions }) => partitions },
        Oldest: ({ oldest }) => oldest ?? "–",
        Newest: (row) => <Newest {...row} />,
        "Rows outside": {
          number: ({ outside }) =>
            outside === 0 ? "0" : <StatusBadge tone="warning">{`about ${formatCount(outside)}`}</StatusBadge>,
        },
      }}
    />
    <SystemTable
      caption="Largest tables"
      rows={tables}
      empty="There is no table: the database was not migrated."
      columns={{
        Table: ({ name }) => name,
        Size: { number: ({ bytes }) => formatBytes(bytes) },
        "Of it indexes": { number: ({ indexBytes }) => formatBytes(indexBytes) },
        "Rows, about": { count: ({ rows }) => rows },
        "Remains of rows": { count: ({ deadRows }) => deadRows },
        "Last vacuumed": ({ vacuumedAt }) => <Time at={vacuumedAt} />,
      }}
    />
  </Section>
)

const Newest = ({ newest }: PartitionState) => {
  const { now } = useView()
  const today = fromUnixMillis(now).slice(0, newest?.length)
  if (newest !== null && newest >= today) return <>{newest}</>
  return <StatusBadge tone="warning">{`${newest ?? "none"}: a worker adds today's`}</StatusBadge>
}
