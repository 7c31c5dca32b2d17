import fc from "fast-check"

/** The number of runs of each property: 25 in the gate, 250 at night. */
export const PROPERTY_RUNS = Number(process.env["PROPERTY_RUNS"] ?? 25)

/** Returns a fraction of the runs, for a property with expensive runs. */
export const propertyRuns = (divisor: number): number => Math.max(1, Math.round(PROPERTY_RUNS / divisor))

// vitest loads this file before each test file. The gate is repeatable: it always uses the same seed. The nightly run uses others.
fc.configureGlobal({ numRuns: PROPERTY_RUNS, seed: Number(process.env["TEST_SEED"] ?? 1) })
