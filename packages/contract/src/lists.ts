import * as z from "zod"
import type { List } from "../types.d.ts"
import { Livemode } from "./campaigns.ts"
import type { Schema } from "./Schema.ts"

/** Creates the schema of a page of `item`; `id` is its name in the OpenAPI document. */
export function list<Item extends z.ZodType>(
  item: Item,
  id: string,
): Schema<List<z.output<Item>>, List<z.input<Item>>> {
  return z
    .object({
      object: z.literal("list"),
      livemode: Livemode,
      data: z.array(item),
      has_more: z.boolean(),
      next_cursor: z.string().nullable().meta({ description: "Opaque; null when no further page." }),
      url: z.string().meta({ description: "Echo of the request's path and query." }),
    })
    .refine((page) => page.has_more === (page.next_cursor !== null), {
      path: ["next_cursor"],
      error: "must be null exactly when has_more is false",
    })
    .meta({ id, description: "One page of a list." })
}

/** The `cursor` parameter: `next_cursor` of the previous page. */
export const Cursor = z
  .string()
  .min(1, "must not be empty")
  .meta({ description: "Opaque value of the previous page's `next_cursor`." })

/** The `limit` parameter, parsed from text: 1–500, default 100. */
export const Limit = z
  .string()
  .regex(/^(?:[1-9]\d?|[1-4]\d\d|500)$/, "must be an integer from 1 to 500")
  .transform(Number)
  .default(100)
  .meta({
    description: "Page size.",
    override: ({ jsonSchema }: { jsonSchema: Record<string, unknown> }) => {
      delete jsonSchema["pattern"]
      Object.assign(jsonSchema, { type: "integer", minimum: 1, maximum: 500, default: 100 })
    },
  })

/** Creates the `expand[]` parameter: any of `values`, repeatable, without duplicates. */
export function expand<const Values extends readonly string[]>(values: Values) {
  return z
    .array(z.enum(values))
    .transform((chosen) => [...new Set(chosen)])
    .default([])
    .meta({ description: "Related objects to include; repeatable." })
}
