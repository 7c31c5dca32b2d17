import { clockFaults } from "./clockFaults.ts"
import { databaseFaults } from "./databaseFaults.ts"
import type { Fault } from "./Fault.ts"
import { outsideFaults } from "./outsideFaults.ts"
import { processFaults } from "./processFaults.ts"

/** All faults. Those of a group run one after another on the same servers and processes. */
export const GROUPS: Readonly<Record<string, ReadonlyArray<Fault>>> = {
  database: databaseFaults,
  processes: processFaults,
  outside: outsideFaults,
  clocks: clockFaults,
}

export const FAULTS = Object.values(GROUPS).flat()
