import { Effect } from "effect"
import { createIdentifier } from "../Identifier.ts"
import { OrganizationRepository } from "./OrganizationRepository.ts"

export const createOrganization = Effect.fn("Organizations.createOrganization")(function* (name: string) {
  return yield* (yield* OrganizationRepository).create(yield* createIdentifier("organization"), name)
})
