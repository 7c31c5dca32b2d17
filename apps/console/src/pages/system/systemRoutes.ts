import { systemPage } from "./systemPage.tsx"

export const systemRoutes = [systemPage] as const
