import type { JsonObject } from "@slipway/protocol/schema/json";

/** An instance as a template sees it. */
export const CONTEXT: JsonObject = {
  deployment: "shop",
  name: "front",
  job: { name: "web", templates: [{ name: "server", version: "1" }] },
  index: 2,
  id: "3f1e",
  az: "z1",
  bootstrap: false,
  ip: "10.0.0.5",
  address: "10.0.0.5",
  dns_domain_name: "bosh",
  persistent_disk: 1024,
  release: { name: "demo", version: "1.2" },
  properties_need_filtering: true,
  networks: {
    private: {
      ...{ type: "manual", ip: "10.0.0.5", netmask: "255.255.255.0", gateway: "10.0.0.1", prefix: 24 },
      ...{ dns: ["10.0.0.2"], default: ["dns", "gateway"], cloud_properties: { name: "lan" } },
      dns_record_name: "2.front.private.shop.bosh",
    },
    other: { ip: "10.1.0.5" },
  },
  properties: {
    web: { port: 8080, tls: false, hosts: ["a", "b"], empty: "", nothing: null, text: "line\nnext\n" },
    users: { admin: { name: "root", tags: ["x"] } },
    // Names that every object of Ruby has, too.
    odd: { hash: "h", method: "m", display: "d", test: "t", format: "f", class: "c", send: "s" },
    smile: "\u{1F600} äß",
  },
  links: {
    db: {
      instances: [
        { name: "db", id: "77", index: 0, az: "z1", address: "10.0.0.9", bootstrap: true },
        {
          ...{ name: "db", id: "78", index: 1, az: "z2", address: "10.0.0.10", bootstrap: false },
          properties: { port: 5433 },
        },
      ],
      properties: { port: 5432, user: { name: "app" } },
      instance_group: "Db",
      default_network: "private",
      deployment_name: "my_shop",
      domain: "bosh",
      az_ids: { z1: "1", z2: "2" },
    },
    manual: { instances: [], properties: {}, address: "db.example.com" },
    short: {
      instances: [],
      properties: {},
      use_short_dns_addresses: true,
      group_id: "7",
      network_id: "3",
      domain: "bosh",
      az_ids: {},
    },
  },
};

/** Every construct that the format's documents name, and what it gives. */
export const CONSTRUCTS: readonly { readonly template: string; readonly gives: string }[] = [
  { template: '<%= p("web.port") %>', gives: "8080" },
  { template: '<%= p("web.tls") %>', gives: "false" },
  { template: '[<%= p("web.empty") %>]', gives: "[]" },
  { template: '<%= p("web.nothing", "default") %>', gives: "default" },
  { template: '<%= p("no.such", nil).inspect %>', gives: "nil" },
  { template: '<%= p(["no.such", "web.port"]) %>', gives: "8080" },
  { template: '<%= p(["no.such", "none"], 7) %>', gives: "7" },
  { template: '<%= p("smile") %>', gives: "\u{1F600} äß" },
  { template: '<% if_p("web.port") do |port| %>port <%= port %><% end %>', gives: "port 8080" },
  { template: '<% if_p("web.tls") do |tls| %>tls <%= tls %><% end %>', gives: "tls false" },
  {
    template: '<% if_p("web.port", "smile") do |a, b| %><%= a %>/<%= b %><% end %>',
    gives: "8080/\u{1F600} äß",
  },
  { template: '<% if_p("none") do %>yes<% end.else do %>no<% end %>', gives: "no" },
  { template: '<% if_p("web.port") do %>yes<% end.else do %>no<% end %>', gives: "yes" },
  {
    template:
      '<% if_p("none") do %>1<% end.else_if_p("web.port") do |p| %>2 <%= p %><% end.else do %>3<% end %>',
    gives: "2 8080",
  },
  { template: '<% if_p("none") do %>1<% end.else_if_p("no") do %>2<% end.else do %>3<% end %>', gives: "3" },
  {
    template: '<% if_p("web.port") do %>1<% end.else_if_p("smile") do %>2<% end.else do %>3<% end %>',
    gives: "1",
  },
  { template: '<% if_p("web.port", "none") do %>both<% end.else do %>not both<% end %>', gives: "not both" },
  {
    template: '<%= p(["web.nothing", "web.tls"]) %> <%= p(["web.tls", "smile"], 1) %>',
    gives: "false false",
  },
  { template: '<%= p("web")["hosts"].join %> <%= p("web.port.deeper", "no") %>', gives: "ab no" },
  { template: "<%= p(:smile) %>", gives: "\u{1F600} äß" },
  { template: '<% if_link("db") do |db| %><%= db.p("port") %><% end %>', gives: "5432" },
  { template: '<% if_link("no") do %>1<% end.else do %>none<% end %>', gives: "none" },
  {
    template: '<% if_p("none") do %>1<% end.else_if_link("db") do |l| %><%= l.p("user.name") %><% end %>',
    gives: "app",
  },
  {
    template:
      '<% if_link("no") do %>1<% end.else_if_p("web.port") do |p| %><%= p %><% end.else do %>3<% end %>',
    gives: "8080",
  },
  {
    template: '<% if_link("no") do %>1<% end.else_if_link("db") do |l| %><%= l.p("port") %><% end %>',
    gives: "5432",
  },
  {
    template: '<% if_link("db") do %>1<% end.else_if_link("manual") do %>2<% end.else do %>3<% end %>',
    gives: "1",
  },
  // What follows an if_p of a link asks the link, too.
  {
    template:
      '<% link("db").if_p("none") do %>1<% end.else_if_p("user.name") do |name| %><%= name %><% end %>' +
      '<% link("db").if_p("none") do %>1<% end.else_if_p("web.port") do %>2<% end.else do %>-<% end %>',
    gives: "app-",
  },
  // Only instances that a manifest spells out have properties.
  {
    template:
      '<% link("db").instances.each do |i| %><% i.if_p("port") do |port| %><%= port %> <% end.else do %>no <% end %><% end %>',
    gives: "no 5433 ",
  },
  {
    template: '<%= link("db").instances.map { |i| i.p("none", i.p("port", 1)) }.join(",") %>',
    gives: "1,5433",
  },
  { template: '<%= link("db").instances.map(&:properties).inspect %>', gives: '[nil, {"port"=>5433}]' },
  { template: '<%= JSON.dump(link("db").properties) %>', gives: '{"port":5432,"user":{"name":"app"}}' },
  {
    template:
      '<% link("db").properties.each do |key, value| %><%= key %> <% end %><%= link("db").properties.fetch("port") %>',
    gives: "port user 5432",
  },
  {
    template: '<%= link("db").properties.merge("port" => 1).to_yaml %>',
    gives: "---\nport: 1\nuser:\n  name: app\n",
  },
  { template: '<%= link("db").p(["none", "user.name"]) %>', gives: "app" },
  { template: '<%= link("db").instances.map(&:address).join(",") %>', gives: "10.0.0.9,10.0.0.10" },
  {
    template: '<%= link("db").instances[0].bootstrap %> <%= link("db").instances[1].az %>',
    gives: "true z2",
  },
  {
    template: '<%= link("db").instances.map { |i| "#{i.name}-#{i.index}-#{i.id}" }.join(" ") %>',
    gives: "db-0-77 db-1-78",
  },
  { template: '<%= link("db").p("none", 1) %>', gives: "1" },
  { template: '<% link("db").if_p("port") do |port| %><%= port %><% end %>', gives: "5432" },
  { template: '<%= link("db").properties["user"]["name"] %>', gives: "app" },
  { template: '<%= link("db").address %>', gives: "q-s0.db.private.my-shop.bosh" },
  {
    template: '<%= link("db").address(azs: ["z2"], status: "healthy") %>',
    gives: "q-a2s3.db.private.my-shop.bosh",
  },
  { template: '<%= link("db").address(azs: %w[z2 z1]) %>', gives: "q-a1a2s0.db.private.my-shop.bosh" },
  {
    template: '<%= link("db").address(status: "odd", initial_health_check: "synchronous") %>',
    gives: "q-s0y1.db.private.my-shop.bosh",
  },
  { template: '<%= link("manual").address %>', gives: "db.example.com" },
  { template: '<%= link("short").address %>', gives: "q-n3s0.q-g7.bosh" },
  {
    template: "<%= spec.deployment %>/<%= spec.name %>/<%= spec.index %>/<%= spec.id %>/<%= spec.az %>",
    gives: "shop/front/2/3f1e/z1",
  },
  { template: "<%= spec.bootstrap %> <%= spec.ip %> <%= spec.address %>", gives: "false 10.0.0.5 10.0.0.5" },
  { template: "<%= spec.job.name %> <%= name %> <%= index %>", gives: "web web 2" },
  { template: "<%= spec.release.name %>-<%= spec.release.version %>", gives: "demo-1.2" },
  { template: "<%= spec.networks.private.dns.first %>", gives: "10.0.0.2" },
  { template: "<%= spec.networks.methods(false).grep(/[^=]$/).first %>", gives: "private" },
  { template: '<%= spec.networks.marshal_dump.keys.map(&:to_s).join(",") %>', gives: "private,other" },
  {
    template: '<%= spec.networks.to_h.values.first.ip %> <%= spec.networks.send("other").ip %>',
    gives: "10.0.0.5 10.1.0.5",
  },
  {
    template: "<%= spec.job.templates.first.name %> <%= spec.properties_need_filtering %>",
    gives: "server true",
  },
  {
    template:
      "<% n = spec.networks.private %><%= [n.type, n.ip, n.netmask, n.gateway, n.prefix].join(' ') %>",
    gives: "manual 10.0.0.5 255.255.255.0 10.0.0.1 24",
  },
  {
    template:
      "<% n = spec.networks.private %><%= n.default.join(',') %> <%= n.cloud_properties.name %> <%= n.dns_record_name %>",
    gives: "dns,gateway lan 2.front.private.shop.bosh",
  },
  { template: "<%= spec.properties.web.port %> <%= spec.links.db.properties.port %>", gives: "8080 5432" },
  {
    template: '<%= spec[:az] %> <%= spec["az"] %> <%= spec.dig(:networks, :other, :ip) %>',
    gives: "z1 z1 10.1.0.5",
  },
  {
    template: "<%= spec.respond_to?(:az) %> <%= spec.respond_to?(:no) %> <%= spec.networks.none.nil? %>",
    gives: "true false true",
  },
  {
    template: "<% spec.networks.each_pair do |name, one| %><%= name %>=<%= one.ip %> <% end %>",
    gives: "private=10.0.0.5 other=10.1.0.5 ",
  },
  {
    template: "<%= properties.users.to_h.keys.inspect %> <%= properties.none.inspect %>",
    gives: "[:admin] nil",
  },
  {
    template:
      "<% o = properties.odd %><%= [o.hash, o.method, o.display, o.test, o.format, o.class, o.send].join %>",
    gives: "hmdtfcs",
  },
  { template: "<% properties.fresh = 1 %><%= properties.fresh %>", gives: "1" },
  // Whatever was asked for before, and in which order.
  {
    template:
      "<% n = spec.networks.private; n.gateway; n.ip %><%= n.to_h.keys.first(3).join(' ') %> <%= n.ip %>",
    gives: "type ip netmask 10.0.0.5",
  },
  {
    template:
      "<% w = properties.web; w.tls; w.port = 1; w.delete_field(:text) %><%= w.to_h.keys.join(' ') %> <%= w.port %> <%= w.text.inspect %>",
    gives: "port tls hosts empty nothing 1 nil",
  },
  {
    template:
      "<% a = properties.users; b = a.dup; b.admin = 2 %><%= a == properties.users %> <%= a == b %> <%= a.admin.name %> <%= a.hash == b.hash %>",
    gives: "true false root false",
  },
  {
    template: "<%= spec.release.inspect %> <%= spec.release.freeze.version %> <%= spec.respond_to?(:az=) %>",
    gives: '#<SlipwayTemplates::Fields name="demo", version="1.2"> 1.2 false',
  },
  {
    template:
      "<%= properties.users.dig(:admin, :tags, 0) %> <%= properties.odd.each_pair.map(&:first).first(2) %>",
    gives: "x [:hash, :method]",
  },
  {
    template: "<%= spec.none.inspect %> <%= spec.persistent_disk %> <%= spec.dns_domain_name %>",
    gives: "nil 1024 bosh",
  },
  { template: "<%= properties.web.port %> <%= properties.users.admin.tags.first %>", gives: "8080 x" },
  { template: '<%= raw_properties["web"]["hosts"].to_json %>', gives: '["a","b"]' },
  { template: "a\n<% 2.times do |i| -%>\n  <%= i %>\n<% end -%>\nb\n", gives: "a\n  0\n  1\nb\n" },
  { template: "a\n  <%- if true -%>\nx\n  <%- end -%>\nb", gives: "a\nx\nb" },
  { template: "<%# a comment %><%% raw %>", gives: "<% raw %>" },
  { template: '<%= { "a" => { "b" => [1, "x"] } }.to_yaml %>', gives: "---\na:\n  b:\n  - 1\n  - x\n" },
  { template: '<%= YAML.dump("x" => nil) %>', gives: "---\nx:\n" },
  { template: '<%= JSON.pretty_generate("a" => [1]) %>', gives: '{\n  "a": [\n    1\n  ]\n}' },
  {
    template: '<%= JSON.dump(p("web")) %>',
    gives: '{"port":8080,"tls":false,"hosts":["a","b"],"empty":"","nothing":null,"text":"line\\nnext\\n"}',
  },
  { template: '<%= { "a" => 1, :b => nil }.inspect %>', gives: '{"a"=>1, :b=>nil}' },
  { template: '<%= "it\'s".shellescape %> <%= Shellwords.join(["a b", "c"]) %>', gives: "it\\'s a\\ b c" },
  {
    template: '<%= "".blank? %> <%= nil.present? %> <%= "x".present? %> <%= [].blank? %>',
    gives: "true false true true",
  },
  { template: '<%= p("web.text").split("\\n").map { |l| "  " + l }.join("\\n") %>', gives: "  line\n  next" },
  {
    template: '<% require "digest" %><%= Digest::SHA1.hexdigest("a") %>',
    gives: "86f7e437faa5a7fce15d1ddcb9eaeaea377667b8",
  },
  {
    template: '<% require "ipaddr" %><%= IPAddr.new("10.0.0.0/24").include?(IPAddr.new(spec.ip)) %>',
    gives: "true",
  },
  {
    template: '<% require "openssl" %><%= OpenSSL::Digest::SHA256.hexdigest("a")[0, 8] %>',
    gives: "ca978112",
  },
  {
    template:
      '<% require "uri" %><%= URI.parse("https://u:p@h:1/x").host %> <%= URI.encode_www_form_component("a b") %>',
    gives: "h a+b",
  },
  {
    template: '<% require "set" %><%= Set.new([1, 1]).size %> <%= Base64.strict_encode64("hi") %>',
    gives: "1 aGk=",
  },
  // As in a Director in Ruby, which has loaded them.
  {
    template:
      '<%= IPAddr.new("10.0.0.1").to_i %> <%= Time.parse("2020-01-01T00:00:00Z").year %> <%= Date.new(2020, 1, 2) %>',
    gives: "167772161 2020 2020-01-02",
  },
  {
    template:
      '<%= Digest::SHA256.hexdigest("a")[0, 8] %> <%= URI("http://a:1/b").port %> <%= Set.new([1]).size %>',
    gives: "ca978112 1 1",
  },
  {
    template: '<%= SecureRandom.hex(4).size %> <%= OpenSSL::Digest.hexdigest("SHA1", "a")[0, 4] %>',
    gives: "8 86f7",
  },
  { template: '<% require "erb" %><%= ERB::Util.html_escape("<a>") %>', gives: "&lt;a&gt;" },
  { template: '<% def twice(x) = x * 2 %><%= twice(p("web.port")) %>', gives: "16160" },
];

/** Templates that fail, with the line and the words that operators know. */
export const FAILURES: readonly { readonly template: string; readonly gives: string }[] = [
  { template: '\n\n<%= p("db.host") %>', gives: `line 3: Can't find property '["db.host"]'` },
  { template: '<%= p(["a", "b"]) %>', gives: `line 1: Can't find property '["a", "b"]'` },
  { template: '<%= link("db").p("none") %>', gives: `line 1: Can't find property '["none"]'` },
  {
    template: 'x\n<% link("db").instances.each do |one| %>\n<%= one.p("none") %><% end %>',
    gives: `line 3: Can't find property '["none"]'`,
  },
  { template: '<%= link("db").instances[0].p("port") %>', gives: `line 1: Can't find property '["port"]'` },
  {
    template: '<%= link("db").properties.port %>',
    gives: "line 1: undefined method `port' for an instance of Hash",
  },
  { template: '<%= link("other").p("x") %>', gives: "line 1: Can't find link 'other'" },
  { template: '<%= link("db").address(azs: ["z9"]) %>', gives: "line 1: Unknown AZ: 'z9'" },
  { template: '<% raise "set web.port or web.socket" %>', gives: "line 1: set web.port or web.socket" },
  { template: "<%-\n  fail ArgumentError, 'not this'\n-%>", gives: "line 2: not this" },
  {
    template: '<% p("web.port").each %>',
    gives: "line 1: undefined method `each' for an instance of Integer",
  },
  { template: '<% p("smile").each %>', gives: "line 1: undefined method `each' for an instance of String" },
  { template: "<% properties.none.each %>", gives: "line 1: undefined method `each' for nil" },
  {
    template: "<%= no_such_name %>",
    gives:
      "line 1: undefined local variable or method `no_such_name' for an instance of SlipwayTemplates::DirectorContext",
  },
  { template: "<%= exit %>", gives: "line 1: exit" },
  { template: "<%= abort 'enough' %>", gives: "line 1: enough" },
  { template: "<%= throw :nowhere %>", gives: "line 1: uncaught throw :nowhere" },
  { template: '<%= Integer("x") %>', gives: `line 1: invalid value for Integer(): "x"` },
  { template: '<%= JSON.parse("{") rescue raise("not JSON") %>', gives: "line 1: not JSON" },
];

/** Templates of create-env: without links, and with errors as its users know them. */
export const CREATE_ENV: readonly { readonly template: string; readonly gives: string }[] = [
  { template: '<%= p("web.port") %> <%= name %> <%= index %>', gives: "8080 web 2" },
  { template: '<%= p(["none", "web.port"], 1) %> <%= p("none", 2) %>', gives: "8080 2" },
  { template: '<%= if_link("db") {} %>', gives: "false" },
  {
    template: '<% if_p("none") do %>1<% end.else_if_p("web.port") do |p| %><%= p %><% end %>',
    gives: "8080",
  },
  {
    template: "<%= spec.address %> <%= spec.none.inspect %> <%= properties.web.port %>",
    gives: "10.0.0.5 nil 8080",
  },
  { template: '<%= JSON.dump("a") %> <%= JSON.dump(1) %>', gives: '"a" 1' },
  {
    template: '<%= p("a") %>',
    gives: "line 1: #<TemplateEvaluationContext::UnknownProperty: Can't find property 'a'>",
  },
  {
    template: '<%= p(["a", "b"]) %>',
    gives: "line 1: #<TemplateEvaluationContext::UnknownProperty: Can't find property 'a', or 'b'>",
  },
];
