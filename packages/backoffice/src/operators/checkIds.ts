import { DescribedError } from "@outreach/domain/DescribedError"
import { isIdentifier } from "@outreach/domain/Identifier"
import { Effect } from "effect"
import { ObjectFinder } from "./ObjectFinder.ts"

class IdNotFound extends DescribedError(
  "IdNotFound",
  ({ ids }: { readonly ids: ReadonlyArray<string> }) => `Nothing has the id ${ids.join(" or ")}.`,
) {}

/** Fails if an id of a filter without results is unknown, so that a mistyped id doesn't look like an empty result. */
export const checkIds = Effect.fnUntraced(function* (filter: object) {
  const ids = Object.values(filter)
    .flat()
    .filter((value): value is string => typeof value === "string" && isIdentifier(value))
  if (ids.length === 0) return
  const found = yield* ObjectFinder.use(({ find }) => find(ids, null))
  const unknown = ids.filter((id) => !found.some((each) => each.id === id))
  if (unknown.length > 0) return yield* new IdNotFound({ ids: unknown })
})
