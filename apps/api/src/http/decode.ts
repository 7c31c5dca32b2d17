import { decode as decodeWith, type Operation, type RequestOf, rawQuery } from "@outreach/contract"
import { Effect } from "effect"
import type { Refusal } from "./refuse.ts"

/** Decodes the path parameters and the query of a request by the operation's schemas. */
export const decode = <Op extends Operation>(
  operation: Op,
  parameters: Readonly<Record<string, string | undefined>>,
  search: string,
): Effect.Effect<Pick<RequestOf<Op>, "path" | "query">, Refusal> => {
  const path = decodeWith(operation.pathParameters, parameters, operation.parameterCodes)
  if (!path.ok) return Effect.fail({ reason: "bad request", ...path.refusal })
  const query = decodeWith(operation.query, rawQuery(new URLSearchParams(search)), operation.parameterCodes)
  if (!query.ok) return Effect.fail({ reason: "bad request", ...query.refusal })
  return Effect.succeed({ path: path.value, query: query.value } as Pick<RequestOf<Op>, "path" | "query">)
}
