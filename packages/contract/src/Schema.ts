import type * as z from "zod"

/** The schema of a value; `Input` differs where a default may be left out. */
export interface Schema<Output, Input = Output> extends z.ZodType<Output, Input> {}
