export { type DecideOptions, decide, decideCount, type RateLimitDecision } from "./decide.ts"
export { type FixedWindowOptions, fixedWindow } from "./fixedWindow.ts"
export { keyOfAddress } from "./keyOfAddress.ts"
export type { RateLimitPolicy } from "./RateLimitPolicy.ts"
export {
  type RateLimiter,
  type RateLimiterOptions,
  type RateLimitStore,
  rateLimiter,
  type Signal,
} from "./rateLimiter.ts"
export { type HeaderForm, rateLimitHeaders } from "./rateLimitHeaders.ts"
export { type Change, type RateLimitState, type Spent, spend } from "./spend.ts"
export { type Refill, type TokenBucketOptions, tokenBucket } from "./tokenBucket.ts"
