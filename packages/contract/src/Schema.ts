import type * as z from "zod"

/** The schema of a value. `Input` differs if fields have defaults. */
export interface Schema<Output, Input = Output> extends z.ZodType<Output, Input> {}
