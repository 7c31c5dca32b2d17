import { EndpointRepository } from "@outreach/domain/deliveries/EndpointRepository"
import { EndpointRepositoryPg } from "@outreach/postgres/deliveries/EndpointRepositoryPg"
import { group, reading } from "../Declaration.ts"
import { endpointFlag } from "../inputs/filters.ts"

const list = reading({
  about: "List when an endpoint's breaker opened and closed, newest first",
  input: { endpointId: endpointFlag },
  *run({ endpointId }) {
    const { find, breakerChanges } = yield* EndpointRepository
    yield* find(endpointId)
    return yield* breakerChanges(endpointId)
  },
  columns: ["changedAt", "breaker"],
})

export const breakerChanges = group({
  about: "When the breakers of endpoints opened and closed",
  commands: { list },
  services: EndpointRepositoryPg,
})
