export { loopbackAddress } from "@outreach/embedded-postgres/loopbackAddress"
