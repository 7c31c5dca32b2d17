import { type RouteConfig, route } from "@react-router/dev/routes"

export default [route("webhooks", "./webhooks.ts")] satisfies RouteConfig
