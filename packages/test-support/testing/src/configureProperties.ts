import fc from "fast-check"
import { PROPERTY_RUNS } from "./propertyRuns.ts"

// The gate is repeatable: it always uses the same seed. The nightly run uses others.
fc.configureGlobal({ numRuns: PROPERTY_RUNS, seed: Number(process.env["TEST_SEED"] ?? 1) })
