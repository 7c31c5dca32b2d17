import type { OrganizationId } from "@outreach/domain/Identifier"
import type { DeliveryLane, Held } from "./deliveryLane.ts"

/** Creates the order in which endpoints with something to send have their turns: organizations take turns, and so do the endpoints of each. */
export const laneTurns = () => {
  const organizations = new Map<OrganizationId, Set<DeliveryLane>>()
  const moveToEnd = <K, V>(map: Map<K, V>, key: K, value: V) => {
    map.delete(key)
    map.set(key, value)
  }

  return {
    /** Lets an endpoint take part. */
    add: (lane: DeliveryLane): void => {
      const lanes = organizations.get(lane.organizationId)
      if (lanes === undefined) organizations.set(lane.organizationId, new Set([lane]))
      else lanes.add(lane)
    },

    /** Lets an endpoint take part no longer, until it is added again. */
    leaveOut: (lane: DeliveryLane): undefined => {
      organizations.get(lane.organizationId)?.delete(lane)
    },

    /** Takes a delivery of the first endpoint that has one to begin; endpoints with nothing to send are left out from then on. */
    next: (nextOf: (lane: DeliveryLane) => Held | undefined): readonly [DeliveryLane, Held] | undefined => {
      for (const [organizationId, lanes] of organizations) {
        for (const lane of lanes) {
          const held = nextOf(lane)
          if (lane.waiting.length === 0 && lane.due.length === 0) lanes.delete(lane)
          if (held === undefined) continue
          if (lanes.delete(lane)) lanes.add(lane)
          if (lanes.size === 0) organizations.delete(organizationId)
          else moveToEnd(organizations, organizationId, lanes)
          return [lane, held]
        }
        if (lanes.size === 0) organizations.delete(organizationId)
      }
      return undefined
    },
  }
}
