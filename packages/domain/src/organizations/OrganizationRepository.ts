import { Context, type Effect, Schema } from "effect"
import type { OrganizationId } from "../Identifier.ts"
import type { Organization, OrganizationStatus } from "./Organization.ts"

/** No organization has this id. */
export class OrganizationNotFound extends Schema.TaggedError<OrganizationNotFound>()("OrganizationNotFound", {
  organizationId: Schema.String,
}) {
  override get message(): string {
    return `No organization ${this.organizationId}.`
  }
}

/** Keeps organizations. */
export class OrganizationRepository extends Context.Service<
  OrganizationRepository,
  {
    /** Adds an organization with its clock. */
    create(id: OrganizationId, name: string): Effect.Effect<Organization>
    /** Lists all organizations, oldest first. */
    readonly list: Effect.Effect<ReadonlyArray<OrganizationStatus>>
  }
>()("domain/organizations/OrganizationRepository") {}
