/** Where the primary stands in the history of its cluster. */
export interface PrimaryStanding {
  readonly server: string
  /** The system identifier, the timeline and its mark; null on a standby, and on a server that does not tell. */
  readonly identity: string | null
  /** How many bytes of WAL were written. */
  readonly position: number | null
}

/** Where a standby stands in the history of its cluster. */
export interface StandbyStanding {
  readonly server: string
  readonly isStandby: boolean
  readonly identity: string | null
  /** How many bytes of WAL were replayed. */
  readonly position: number | null
}

export const STANDBY_FAULTS = {
  unreachable: "the standby does not answer",
  promoted: "the server of DATABASE_READ_URL is not a standby: it was promoted, or the address is wrong",
  other_cluster: "the standby belongs to another cluster than the primary",
  other_timeline:
    "the standby is on another timeline than the primary, follows another server with the same timeline number, or has made no restart point since the primary was promoted",
  unknown_primary: "the primary does not tell its system identifier and its timeline",
  lag: "the standby is too far behind the primary",
} as const
export type StandbyFault = keyof typeof STANDBY_FAULTS

/** Returns why a standby cannot be a copy of the primary; undefined if it is one, however far behind. */
export const historyFault = (primary: PrimaryStanding, standby: StandbyStanding): StandbyFault | undefined => {
  if (!standby.isStandby) return "promoted"
  if (primary.identity === null || standby.identity === null) return "unknown_primary"
  if (primary.identity.split("/")[0] !== standby.identity.split("/")[0]) return "other_cluster"
  return primary.identity === standby.identity ? undefined : "other_timeline"
}
