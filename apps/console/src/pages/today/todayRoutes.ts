import { liveRoute } from "../../http/liveRoute.ts"
import { todayPage } from "./todayPage.tsx"

export const todayRoutes = [todayPage, liveRoute] as const
