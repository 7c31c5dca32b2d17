import type { PartitionState } from "@outreach/backoffice/inspection/SystemReader"
import { fromUnixMillis } from "@outreach/domain/Timestamp"
import { formatBytes, formatCount } from "../../components/format.ts"
import { Table } from "../../components/lists.tsx"
import { useView } from "../../components/View.ts"
import { StatusBadge, Time } from "../../components/values.tsx"
import type { consoleSettings } from "./consoleSettings.ts"
import type { System } from "./readSystem.ts"
import { SystemTable } from "./SystemTable.tsx"

/** How large the tables are. */
export const Storage = ({ partitions, tables }: System) => (
  <section>
    <h2>Storage</h2>
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
      empty="There is no table: run ops migrate."
      columns={{
        Table: ({ name }) => name,
        Size: { number: ({ bytes }) => formatBytes(bytes) },
        "Of it indexes": { number: ({ indexBytes }) => formatBytes(indexBytes) },
        "Rows, about": { count: ({ rows }) => rows },
        "Remains of rows": { count: ({ deadRows }) => deadRows },
        "Last vacuumed": ({ vacuumedAt }) => <Time at={vacuumedAt} />,
      }}
    />
  </section>
)

/** The newest partition; a worker adds those of the time to come. */
const Newest = ({ newest }: PartitionState) => {
  const { now } = useView()
  const today = fromUnixMillis(now).slice(0, newest?.length)
  if (newest !== null && newest >= today) return <>{newest}</>
  return <StatusBadge tone="warning">{`${newest ?? "none"}: a worker adds today's`}</StatusBadge>
}

/** How the console and the server are set up. */
export const Settings = (props: System & { readonly consoleSettings: ReturnType<typeof consoleSettings> }) => (
  <section>
    <h2>Settings</h2>
    <Table
      caption="Settings of this console, without secrets"
      rows={props.consoleSettings}
      empty="None."
      columns={{
        Setting: ({ name }) => <code>{name}</code>,
        Value: ({ value }) => value,
      }}
    />
    <SystemTable
      caption="Settings of the database server"
      rows={props.settings}
      empty="None could be read."
      columns={{
        Setting: ({ name }) => <code>{name}</code>,
        Value: ({ value }) => (value === "" ? "none" : value),
        From: ({ source, needsRestart }) => (needsRestart ? `${source}; waits for a restart` : source),
      }}
    />
  </section>
)
