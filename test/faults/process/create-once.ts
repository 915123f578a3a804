import http from 'node:http'
import { webPayment } from '../../support/client.ts'

const BODY = JSON.stringify(webPayment)

/** Creates a payment over a connection of `agent`, without retries. Rejects if the response is cut off. */
export function createOnce(
  baseUrl: string,
  agent: http.Agent,
  key: string,
): Promise<{ status: number; retryAfter: string | undefined }> {
  return new Promise((resolve, reject) => {
    const request = http.request(`${baseUrl}/v1/payments`, {
      agent,
      method: 'POST',
      headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
    })
    request.on('response', response => {
      const { statusCode: status = 0, headers } = response
      response.on('error', reject)
      response.on('end', () => resolve({ status, retryAfter: headers['retry-after'] })).resume()
    })
    request.on('error', reject)
    request.end(BODY)
  })
}
