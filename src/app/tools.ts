import { ownTurn } from '../core/turns.ts'
import { routedInConsole } from '../platform/accounts/session.ts'
import type { Areas } from '../platform/http/areas.ts'
import type { Endpoint } from '../platform/http/endpoint.ts'
import type { ToolContext } from '../tools/context.ts'
import { controlDescription } from './docs/routes.ts'

/** Loads the tools in steps of some 10 ms. In a clone Node strips the types of 150 files, which takes some 0.1 s. */
export async function loadTools() {
  const { createWaits } = await import('../tools/control/wait.ts')
  const { controlEndpoints } = await import('../tools/control/routes.ts')
  await ownTurn()
  const { consoleRoutes } = await import('../tools/console/pages.ts')
  await ownTurn()
  const { consoleAreas } = await import('../tools/console/area.ts')
  return { createWaits, controlEndpoints, consoleRoutes, consoleAreas }
}

/** Makes the routes and areas below the prefixes in app.ts, for the first request there. */
export async function createTools(
  context: ToolContext,
  service: { areas: Areas; operations: readonly Endpoint[]; stopped: () => boolean },
) {
  const { config } = context
  const { createWaits, controlEndpoints, consoleRoutes, consoleAreas } = await loadTools()
  const waits = createWaits(context, service.stopped)
  const control = controlEndpoints({ ...context, ...service, ...waits })
  if (control.length > 0) control.push(controlDescription(context, () => control))
  await ownTurn()
  return {
    routes: [...control, ...consoleRoutes(context, service.operations)],
    areas: { ...service.areas, ...(config.console && consoleAreas(context)) },
    routedAs: routedInConsole,
  }
}
