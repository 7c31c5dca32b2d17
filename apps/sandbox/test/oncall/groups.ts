import { clockFaults } from "./clockFaults.ts"
import { databaseFaults } from "./databaseFaults.ts"
import type { Group } from "./Fault.ts"
import { outsideFaults } from "./outsideFaults.ts"
import { processFaults } from "./processFaults.ts"

/** All faults by stage. */
export const GROUPS: ReadonlyArray<Group> = [
  { name: "database", faults: databaseFaults },
  { name: "processes", faults: processFaults },
  { name: "outside", faults: outsideFaults },
  { name: "clocks", faults: clockFaults },
]
