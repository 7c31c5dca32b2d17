import { defineConfig } from "vitest/config"

export default defineConfig({
  test: {
    projects: ["packages/*", "apps/*"],
    // Much of their time the tests wait for processes, and the default on two cores is one worker.
    maxWorkers: "100%",
  },
})
