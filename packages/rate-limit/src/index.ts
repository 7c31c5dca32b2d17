export {
  decide,
  type RateLimitDecision,
  type RateLimitPolicy,
  type RateLimitWindow,
  windowAt,
} from "./fixedWindow.ts"
export { type RateLimitHeaders, rateLimitHeaders } from "./rateLimitHeaders.ts"
