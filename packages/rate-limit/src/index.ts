export {
  decide,
  type RateLimitDecision,
  type RateLimitHeaders,
  type RateLimitPolicy,
  type RateLimitWindow,
  rateLimitHeaders,
  windowAt,
} from "./fixedWindow.ts"
