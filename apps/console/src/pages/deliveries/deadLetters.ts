import { DeadLetterReader } from "@outreach/backoffice/deliveries/DeadLetterReader"
import type { DeadLetterCursor, DeadLetterFilter } from "@outreach/domain/deliveries/DeadLetterRepository"
import { DeliveryId } from "@outreach/domain/Identifier"
import { Instant } from "@outreach/domain/Instant"
import { Effect } from "effect"
import { defineCursor, pageOf } from "../../view/inputs.ts"

export const deadLetterCursor = defineCursor({ finishedAt: Instant, id: DeliveryId })

export const readDeadLetters = Effect.fnUntraced(function* (
  filter: DeadLetterFilter,
  size: number,
  after: DeadLetterCursor | undefined,
) {
  const { rows, last } = pageOf(yield* (yield* DeadLetterReader).list(filter, size + 1, after), size)
  return { rows, next: last && { after: deadLetterCursor.of({ finishedAt: last.finishedAt!, id: last.id }) } }
})
