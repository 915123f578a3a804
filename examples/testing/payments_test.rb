# Needs Ruby 3.0 with minitest and a Farthing that was started with FARTHING_CONTROL=true and
# FARTHING_CALLBACK_HOSTS=127.0.0.1. Reads FARTHING_URL and FARTHING_API_KEY. Run it with: ruby payments_test.rb
require 'json'
require 'minitest/autorun'
require 'net/http'
require 'openssl'
require 'socket'

URL = URI(ENV.fetch('FARTHING_URL'))
PARENT_KEY = ENV.fetch('FARTHING_API_KEY')
PAYMENT = { amount: 1450, reference: 'R-7', description: 'A licence', return_url: 'https://example.org/back' }.freeze

class PaymentsTest < Minitest::Test
  # Returns the status and the JSON of the response, also of an error.
  def ask(key, method, path, body = nil)
    headers = { 'Authorization' => "Bearer #{key}", 'Content-Type' => 'application/json' }
    http = Net::HTTP.start(URL.host, URL.port, max_retries: 0)
    response = http.send_request(method, path, body && JSON.generate(body), headers)
    [response.code.to_i, response.body.to_s.empty? ? nil : JSON.parse(response.body)]
  end

  def setup
    _, @account = ask(PARENT_KEY, 'POST', '/control/accounts')
    @key = @account['key']
  end

  def teardown = ask(PARENT_KEY, 'DELETE', "/control/accounts/#{@account['account']}")

  # Answers one request with 200, and returns its body and its Pay-Signature.
  def receive_one(server)
    socket = server.accept
    socket.gets
    headers = {}
    while (line = socket.gets.chomp) != ''
      name, value = line.split(': ', 2)
      headers[name.downcase] = value
    end
    body = socket.read(headers['content-length'].to_i)
    socket.write("HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
    socket.close
    [body, headers['pay-signature']]
  end

  def test_a_webhook_is_signed_over_its_raw_bytes
    server = TCPServer.new('127.0.0.1', 0)
    receiver = Thread.new { receive_one(server) }
    address = "http://127.0.0.1:#{server.addr[1]}/"
    _, webhook = ask(@key, 'POST', '/v1/webhooks', { callback_url: address, subscriptions: ['card_payment_succeeded'] })
    _, payment = ask(@key, 'POST', '/v1/payments', PAYMENT)
    _, payment = ask(@key, 'POST', "/control/payments/#{payment['payment_id']}/complete", { scenario: 'success' })
    assert_equal 'success', payment['state']['status']
    body, signature = receiver.value # The response came after the delivery.
    right = OpenSSL::HMAC.hexdigest('SHA256', webhook['signing_key'], body)
    assert OpenSSL.secure_compare(right, signature)
    assert_equal payment['payment_id'], JSON.parse(body)['resource_id']
  end

  def test_a_refund_succeeds_after_5_seconds_and_a_payment_is_gone_after_7_days
    _, payment = ask(@key, 'POST', '/control/payments', { scenario: 'success', amount: 1450 })
    path = "/v1/payments/#{payment['payment_id']}"
    status, refund = ask(@key, 'POST', "#{path}/refunds", { amount: 500, refund_amount_available: 1450 })
    assert_equal [202, 'submitted'], [status, refund['status']]
    ask(@key, 'POST', '/control/clock', { advance: 5_000 })
    assert_equal 'success', ask(@key, 'GET', "#{path}/refunds/#{refund['refund_id']}")[1]['status']
    ask(@key, 'POST', '/control/clock', { advance: 7 * 24 * 60 * 60 * 1_000 })
    status, error = ask(@key, 'GET', path)
    assert_equal [404, 'P0200'], [status, error['code']]
  end

  def test_a_503_and_a_lost_answer_can_be_planned
    ask(@key, 'POST', '/control/plans', { on: 'createPayment', answer: { status: 503 } })
    assert_equal 503, ask(@key, 'POST', '/v1/payments', PAYMENT)[0]
    ask(@key, 'POST', '/control/plans', { on: 'createPayment', when: 'after', reset: true })
    assert_raises(SystemCallError, EOFError) { ask(@key, 'POST', '/v1/payments', PAYMENT) }
    _, found = ask(@key, 'GET', '/v1/payments?reference=R-7')
    assert_equal 1, found['total'] # It was made: search before you repeat.
  end
end
