import { Context, type Effect, Schema } from "effect"
import type { OrganizationNotFound } from "../callers/OrganizationRegistry.ts"
import type { OrganizationId } from "../Identifier.ts"
import type { Program } from "./Program.ts"

/** The organization has a program with this slug. */
export class ProgramSlugTaken extends Schema.TaggedError<ProgramSlugTaken>()("ProgramSlugTaken", {
  slug: Schema.String,
}) {
  override get message(): string {
    return `The organization has a program with the slug "${this.slug}"; slugs are unique within an organization.`
  }
}

/** No program has this id. */
export class ProgramNotFound extends Schema.TaggedError<ProgramNotFound>()("ProgramNotFound", {
  programId: Schema.String,
}) {
  override get message(): string {
    return `No program ${this.programId}.`
  }
}

/** Keeps programs. */
export class ProgramCatalog extends Context.Service<
  ProgramCatalog,
  {
    create(
      program: Omit<Program, "status" | "createdAt" | "updatedAt">,
    ): Effect.Effect<Program, OrganizationNotFound | ProgramSlugTaken>
    /** Lists programs, oldest first; of one organization or of all. */
    list(organizationId?: OrganizationId): Effect.Effect<ReadonlyArray<Program>>
  }
>()("domain/programs/ProgramCatalog") {}
