# The registry's client, as every CPI of version 1 has one. Nothing here changes from version 1 to version 2.
require "erb"
require "json"
require "net/http"

class Registry
  def initialize(options)
    @url = URI(options.fetch("endpoint"))
    @user, @password = options.values_at("user", "password")
  end

  # What an agent is given: it has no other way to the credentials.
  def endpoint
    login = [@user, @password].map { |word| ERB::Util.url_encode(word) }.join(":")
    "#{@url.scheme}://#{login}@#{@url.host}:#{@url.port}"
  end

  def read(vm_cid) = JSON.parse(JSON.parse(send_request(Net::HTTP::Get, vm_cid)).fetch("settings"))

  def write(vm_cid, settings) = send_request(Net::HTTP::Put, vm_cid, JSON.dump(settings))

  def delete(vm_cid) = send_request(Net::HTTP::Delete, vm_cid)

  private

  def send_request(verb, vm_cid, body = nil)
    request = verb.new("/instances/#{vm_cid}/settings", "Content-Type" => "application/json")
    request.basic_auth(@user, @password)
    request.body = body
    reply = Net::HTTP.start(@url.host, @url.port, use_ssl: @url.scheme == "https") { |http| http.request(request) }
    return reply.body if reply.is_a?(Net::HTTPSuccess)

    raise CpiError.new("CloudError", "the registry answered #{reply.code} to #{reply.class} of VM '#{vm_cid}'")
  end
end
