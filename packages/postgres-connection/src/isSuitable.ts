import type { TargetSession } from "./DatabaseAddress.ts"

/** Reports whether a server that reports these parameters is one that `target_session_attrs` takes. */
export const isSuitable = (target: TargetSession, parameters: ReadonlyMap<string, string>): boolean => {
  const isStandby = parameters.get("in_hot_standby") === "on"
  const isReadOnly = isStandby || parameters.get("default_transaction_read_only") === "on"
  switch (target) {
    case "read-write":
      return !isReadOnly
    case "read-only":
      return isReadOnly
    case "primary":
      return !isStandby
    case "standby":
      return isStandby
    default:
      return true
  }
}
