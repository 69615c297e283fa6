// NVTX's C++ interface: ranges that end with their scope, marks, domains, registered strings.

#pragma once
#define NVTX3_CPP_DEFINITIONS_V1_0 // guard that programs test

#include <string>
#include <type_traits>

#include <nvtx3/nvToolsExt.h> // a program may use NVIDIA's, whose package lacks this header

namespace nvtx3 {
inline namespace v1 {

namespace warpbook {

// Members that a domain's, string's or category's type may have.
template <typename T> auto name_of(int) -> decltype(T::name) { return T::name; }
template <typename T> const char *name_of(...) { return nullptr; }

} // namespace warpbook

// The domain of a type with a static member `name`; without a type, NVTX's default domain.
class domain {
  public:
    struct global {};

    domain(const domain &) = delete;
    domain &operator=(const domain &) = delete;

    template <typename D = global> static const domain &get() noexcept {
        static const domain instance{warpbook::name_of<D>(0)};
        return instance;
    }
    operator nvtxDomainHandle_t() const noexcept { return handle_; }

  private:
    explicit domain(const char *name) noexcept : handle_{name ? nvtxDomainCreateA(name) : nullptr} {}
    explicit domain(const wchar_t *name) noexcept : handle_{nvtxDomainCreateW(name)} {}

    const nvtxDomainHandle_t handle_;
};

struct rgb {
    using component_type = uint8_t;
    constexpr rgb(component_type red, component_type green, component_type blue) noexcept
        : red{red}, green{green}, blue{blue} {}
    const component_type red, green, blue;
};

struct argb final : rgb {
    constexpr argb(component_type alpha, component_type red, component_type green, component_type blue) noexcept
        : rgb{red, green, blue}, alpha{alpha} {}
    const component_type alpha;
};

class color {
  public:
    using value_type = uint32_t;
    constexpr explicit color(value_type hex_code) noexcept : value_{hex_code} {}
    constexpr color(argb c) noexcept : value_{pack(c.alpha, c)} {}
    constexpr color(rgb c) noexcept : value_{pack(0xff, c)} {}
    constexpr value_type get_value() const noexcept { return value_; }
    constexpr nvtxColorType_t get_type() const noexcept { return NVTX_COLOR_ARGB; }

  private:
    static constexpr value_type pack(uint8_t alpha, rgb c) noexcept {
        return value_type{alpha} << 24 | value_type{c.red} << 16 | value_type{c.green} << 8 | c.blue;
    }
    value_type value_;
};

class category {
  public:
    using id_type = uint32_t;
    constexpr explicit category(id_type id) noexcept : id_{id} {}
    constexpr id_type get_id() const noexcept { return id_; }

  private:
    id_type id_;
};

template <typename D = domain::global> class named_category_in final : public category {
  public:
    template <typename C> static const named_category_in &get() noexcept {
        static const named_category_in instance{C::id, C::name};
        return instance;
    }
    named_category_in(id_type id, const char *name) noexcept : category{id} {
        nvtxDomainNameCategoryA(domain::get<D>(), id, name);
    }
    named_category_in(id_type id, const wchar_t *name) noexcept : category{id} {
        nvtxDomainNameCategoryW(domain::get<D>(), id, name);
    }
};
using named_category = named_category_in<>;

template <typename D = domain::global> class registered_string_in {
  public:
    template <typename M> static const registered_string_in &get() noexcept {
        static const registered_string_in instance{M::message};
        return instance;
    }
    explicit registered_string_in(const char *text) noexcept
        : handle_{nvtxDomainRegisterStringA(domain::get<D>(), text)} {}
    explicit registered_string_in(const std::string &text) noexcept : registered_string_in{text.c_str()} {}
    explicit registered_string_in(const wchar_t *text) noexcept
        : handle_{nvtxDomainRegisterStringW(domain::get<D>(), text)} {}
    explicit registered_string_in(const std::wstring &text) noexcept : registered_string_in{text.c_str()} {}
    nvtxStringHandle_t get_handle() const noexcept { return handle_; }

  private:
    nvtxStringHandle_t handle_;
};
using registered_string = registered_string_in<>;

class message {
  public:
    using value_type = nvtxMessageValue_t;
    message(const char *text) noexcept : type_{NVTX_MESSAGE_TYPE_ASCII} { value_.ascii = text; }
    message(const std::string &text) noexcept : message{text.c_str()} {}
    message(const wchar_t *text) noexcept : type_{NVTX_MESSAGE_TYPE_UNICODE} { value_.unicode = text; }
    message(const std::wstring &text) noexcept : message{text.c_str()} {}
    template <typename D>
    message(const registered_string_in<D> &text) noexcept : type_{NVTX_MESSAGE_TYPE_REGISTERED} {
        value_.registered = text.get_handle();
    }
    // The text of a temporary object would be gone when NVTX reads it.
    message(std::string &&) = delete;
    message(std::wstring &&) = delete;
    value_type get_value() const noexcept { return value_; }
    nvtxMessageType_t get_type() const noexcept { return type_; }

  private:
    nvtxMessageType_t type_;
    value_type value_;
};

class payload {
  public:
    using value_type = typename nvtxEventAttributes_v2::payload_t;
    explicit payload(int64_t number) noexcept : type_{NVTX_PAYLOAD_TYPE_INT64} { value_.llValue = number; }
    explicit payload(int32_t number) noexcept : type_{NVTX_PAYLOAD_TYPE_INT32} { value_.iValue = number; }
    explicit payload(uint64_t number) noexcept : type_{NVTX_PAYLOAD_TYPE_UNSIGNED_INT64} { value_.ullValue = number; }
    explicit payload(uint32_t number) noexcept : type_{NVTX_PAYLOAD_TYPE_UNSIGNED_INT32} { value_.uiValue = number; }
    explicit payload(float number) noexcept : type_{NVTX_PAYLOAD_TYPE_FLOAT} { value_.fValue = number; }
    explicit payload(double number) noexcept : type_{NVTX_PAYLOAD_TYPE_DOUBLE} { value_.dValue = number; }
    value_type get_value() const noexcept { return value_; }
    nvtxPayloadType_t get_type() const noexcept { return type_; }

  private:
    nvtxPayloadType_t type_;
    value_type value_ = {};
};

// The attributes of a range or mark, in any order. Of several of one kind, the first counts.
class event_attributes {
  public:
    event_attributes() noexcept {
        attributes_.version = NVTX_VERSION;
        attributes_.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
    }
    template <typename... Args> explicit event_attributes(const category &c, const Args &...args) noexcept
        : event_attributes(args...) {
        attributes_.category = c.get_id();
    }
    template <typename... Args> explicit event_attributes(const color &c, const Args &...args) noexcept
        : event_attributes(args...) {
        attributes_.color = c.get_value();
        attributes_.colorType = c.get_type();
    }
    template <typename... Args> explicit event_attributes(const rgb &c, const Args &...args) noexcept
        : event_attributes(color{c}, args...) {}
    template <typename... Args> explicit event_attributes(const argb &c, const Args &...args) noexcept
        : event_attributes(color{c}, args...) {}
    template <typename... Args> explicit event_attributes(const payload &p, const Args &...args) noexcept
        : event_attributes(args...) {
        attributes_.payload = p.get_value();
        attributes_.payloadType = p.get_type();
    }
    template <typename... Args> explicit event_attributes(const message &m, const Args &...args) noexcept
        : event_attributes(args...) {
        attributes_.message = m.get_value();
        attributes_.messageType = m.get_type();
    }
    const nvtxEventAttributes_t *get() const noexcept { return &attributes_; }

  private:
    nvtxEventAttributes_t attributes_ = {};
};

// A range from its construction to the end of its scope, in one thread.
template <typename D = domain::global> class scoped_range_in {
  public:
    explicit scoped_range_in(const event_attributes &attributes) noexcept {
        nvtxDomainRangePushEx(domain::get<D>(), attributes.get());
    }
    template <typename... Args>
    explicit scoped_range_in(const Args &...args) noexcept : scoped_range_in{event_attributes{args...}} {}
    scoped_range_in() noexcept : scoped_range_in{event_attributes{}} {}
    scoped_range_in(const scoped_range_in &) = delete;
    scoped_range_in &operator=(const scoped_range_in &) = delete;
    ~scoped_range_in() noexcept { nvtxDomainRangePop(domain::get<D>()); }
};
using scoped_range = scoped_range_in<>;

struct range_handle {
    using value_type = nvtxRangeId_t;
    constexpr explicit range_handle(value_type id) noexcept : id_{id} {}
    constexpr range_handle() noexcept = default;
    constexpr explicit operator bool() const noexcept { return id_ != 0; }
    constexpr value_type get_value() const noexcept { return id_; }

  private:
    value_type id_ = 0;
};

template <typename D = domain::global> range_handle start_range_in(const event_attributes &attributes) noexcept {
    return range_handle{nvtxDomainRangeStartEx(domain::get<D>(), attributes.get())};
}
template <typename D = domain::global, typename... Args> range_handle start_range_in(const Args &...args) noexcept {
    return start_range_in<D>(event_attributes{args...});
}
template <typename... Args> range_handle start_range(const Args &...args) noexcept {
    return start_range_in<domain::global>(args...);
}
template <typename D = domain::global> void end_range_in(range_handle range) noexcept {
    nvtxDomainRangeEnd(domain::get<D>(), range.get_value());
}
inline void end_range(range_handle range) noexcept { end_range_in<domain::global>(range); }

// A range that ends when its owner is destroyed, in any thread.
template <typename D = domain::global> class unique_range_in {
  public:
    template <typename... Args>
    explicit unique_range_in(const Args &...args) noexcept : range_{start_range_in<D>(args...)} {}
    unique_range_in(unique_range_in &&other) noexcept : range_{other.range_} { other.range_ = range_handle{}; }
    unique_range_in &operator=(unique_range_in &&other) noexcept {
        const range_handle range = other.range_;
        other.range_ = range_;
        range_ = range;
        return *this;
    }
    ~unique_range_in() noexcept {
        if (range_) end_range_in<D>(range_);
    }

  private:
    range_handle range_;
};
using unique_range = unique_range_in<>;

template <typename D = domain::global> void mark_in(const event_attributes &attributes) noexcept {
    nvtxDomainMarkEx(domain::get<D>(), attributes.get());
}
template <typename D = domain::global, typename... Args> void mark_in(const Args &...args) noexcept {
    mark_in<D>(event_attributes{args...});
}
template <typename... Args> void mark(const Args &...args) noexcept { mark_in<domain::global>(args...); }

} // namespace v1
} // namespace nvtx3

// A range of the function that contains this line.
#define NVTX3_FUNC_RANGE_IN(D)                                                               \
    static const ::nvtx3::registered_string_in<D> nvtx3_func_name__{__func__};               \
    static const ::nvtx3::event_attributes nvtx3_func_attr__{nvtx3_func_name__};             \
    const ::nvtx3::scoped_range_in<D> nvtx3_range__{nvtx3_func_attr__}
#define NVTX3_FUNC_RANGE() NVTX3_FUNC_RANGE_IN(::nvtx3::domain::global)
