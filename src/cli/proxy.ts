/** The proxy of the environment, which Node's fetch uses with NODE_USE_ENV_PROXY=1 or --use-env-proxy. */

type Env = Record<string, string | undefined>

const LOOPBACK = ['localhost', '127.0.0.1', '[::1]', '::1']

/** Whether only this machine reaches a host of this name or address. */
export const isLoopback = (host: string): boolean =>
  LOOPBACK.includes(host) || /^127\.[\d.]+$/.test(host)

/** No proxy can reach a service on this machine. fetch reads the variables before each request. */
export function exceptLoopback(env: Env): void {
  const exceptions = [env.no_proxy ?? env.NO_PROXY, ...LOOPBACK].filter(Boolean).join(',')
  env.no_proxy = exceptions
  env.NO_PROXY = exceptions
}

/** The address of the proxy that a request to this address passes, without user name and password. */
export function proxyOf(url: string, env: Env, nodeOptions: readonly string[]): string | undefined {
  const { hostname, protocol } = new URL(url)
  const isOn =
    env.NODE_USE_ENV_PROXY === '1' ||
    [...nodeOptions, env.NODE_OPTIONS ?? ''].some(option => option.includes('--use-env-proxy'))
  const exceptions = (env.no_proxy ?? env.NO_PROXY ?? '').split(/[\s,]+/)
  const isExcepted = exceptions.some(
    name =>
      name === '*' || (name !== '' && `.${hostname}`.endsWith(`.${name.replace(/^\*?\./, '')}`)),
  )
  const proxy =
    protocol === 'https:'
      ? (env.https_proxy ?? env.HTTPS_PROXY)
      : (env.http_proxy ?? env.HTTP_PROXY)
  if (!isOn || isExcepted || !proxy) return undefined
  return URL.parse(proxy)?.origin ?? 'of the environment'
}
