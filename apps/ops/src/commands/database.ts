import { DatabaseInspection, type InspectedServer } from "@outreach/backoffice/inspection/DatabaseInspection"
import { group, reading } from "../Declaration.ts"
import { formatCount, formatRecord, formatRows } from "../output/Output.ts"

const show = reading({
  about:
    "Show the server's role and timeline, its standbys with their lag, whether commits wait for them, and the clocks of the organizations",
  run: () => DatabaseInspection.use(({ readServer }) => readServer),
  format: (server) => formatServer(server),
})

export const database = group({
  about: "The PostgreSQL server of the database, and its standbys",
  commands: { show },
  services: DatabaseInspection.layer,
})

const formatServer = ({
  standbys,
  commitsWait,
  clockTimelines,
  clocksAhead,
  clocksAheadTotal,
  synchronousStandbys,
  ...server
}: InspectedServer) => [
  formatRecord({ ...server, synchronousStandbys: synchronousStandbys === "" ? "none" : synchronousStandbys }),
  commitSentence(synchronousStandbys, commitsWait),
  standbys === null
    ? "This role may not see the standbys. A superuser can allow it: grant pg_monitor to the role."
    : `Standbys:\n${formatRows(standbys, ["name", "address", "state", "syncState", "lagBytes", "lagSeconds"])}`,
  `Timelines on which the clocks of organizations were last advanced:\n${formatRows(clockTimelines, ["timeline", "isThisServers", "organizations"])}`,
  clocksAheadTotal === 0
    ? "No clock of an organization is ahead of the server's."
    : `${formatCount(clocksAheadTotal, "clock")} ahead of the server's, furthest first:\n${formatRows(clocksAhead, ["organizationId", "name", "seconds"])}`,
]

const commitSentence = (synchronousStandbys: string, commitsWait: boolean | null): string => {
  if (synchronousStandbys === "") return "Commits wait for no standby: a failover may lose the last ones."
  if (commitsWait === null)
    return "Commits wait for synchronous standbys, and this role may not see whether they are there."
  return commitsWait
    ? "Commits wait for a synchronous standby that is not there: nothing can be written until it comes back."
    : "Commits wait for synchronous standbys, and these are there."
}
