/* Python module evenkeel._native: guard, plan and profile builder of libevenkeel on NumPy arrays.
 *
 * The classes of the package check and convert arguments; this module reads arrays of any strides
 * and runs batches of lists without the interpreter lock. An object is used by one thread at a
 * time: a second thread gets a RuntimeError, and the object is unchanged.
 */
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "evenkeel.h"
#include "manifest_info.h"
#include "ranker.h"

namespace nb = nanobind;

namespace
{

enum { SEGMENTS_MAX = 16 };

struct Error {
    ek_error *e = ek_error_new();
    ~Error()
    {
        ek_error_free(e);
    }

    /* Throw the exception for a code; `before` precedes the message. */
    [[noreturn]] void raise(int code, const std::string &before = "") const
    {
        if (!e || code == EK_ENOMEM)
            throw std::bad_alloc();
        std::string text = before + ek_error_message(e);
        if (code == EK_EIO) {
            PyErr_SetString(PyExc_OSError, text.c_str());
            throw nb::python_error();
        }
        throw nb::value_error(text.c_str());
    }

    void check(int code) const
    {
        if (code)
            raise(code);
    }
};

template <auto release> struct Release {
    template <typename T> void operator()(T *object) const
    {
        release(object);
    }
};
/* Owner of an object of C. */
template <typename T, auto release> using Owned = std::unique_ptr<T, Release<release>>;

/* Return the object that a function of C makes from the arguments. */
template <typename Owner, typename New, typename... Arguments>
Owner made(New make, Arguments... arguments)
{
    Error e;
    typename Owner::pointer object = nullptr;
    e.check(make(&object, arguments..., e.e));
    return Owner(object);
}

const char *text_or_null(const std::optional<std::string> &text)
{
    return text ? text->c_str() : nullptr;
}

/* Exclusive use of an object for one call. */
class Use
{
  public:
    Use(std::atomic<bool> &busy, const char *what) : busy_(busy)
    {
        if (busy.exchange(true))
            throw std::runtime_error(std::string("this ") + what +
                                     " is in use in another thread; use one per thread");
    }
    ~Use()
    {
        busy_.store(false);
    }
    Use(const Use &) = delete;
    Use &operator=(const Use &) = delete;

  private:
    std::atomic<bool> &busy_;
};

/* Text of a Python string, valid as long as the string; NULL for None. */
const char *text_of(nb::handle value, const char *argument)
{
    if (value.is_none())
        return nullptr;
    Py_ssize_t length = 0;
    const char *text =
        PyUnicode_Check(value.ptr()) ? PyUnicode_AsUTF8AndSize(value.ptr(), &length) : nullptr;
    if (!text || std::strlen(text) != static_cast<size_t>(length)) {
        PyErr_Clear();
        throw nb::value_error((std::string("'") + argument +
                               "': not a string, or it contains a null or invalid character")
                                  .c_str());
    }
    return text;
}

std::vector<const char *> texts_of(const nb::tuple &values, size_t count, const char *argument)
{
    if (nb::len(values) != count)
        throw nb::value_error((std::string("'") + argument + "' has " +
                               std::to_string(nb::len(values)) + " values, expected " +
                               std::to_string(count))
                                  .c_str());
    std::vector<const char *> out;
    out.reserve(count);
    for (nb::handle value : values)
        out.push_back(text_of(value, argument));
    return out;
}

using Integers = nb::ndarray<const int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Floats = nb::ndarray<const float, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Doubles = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

void require(bool holds, const char *message)
{
    if (!holds)
        throw nb::value_error(message);
}

/* Buffer of an array, released also if a constructor throws. */
struct Buffer {
    Py_buffer view = {};
    Buffer() = default;
    ~Buffer()
    {
        if (view.obj)
            PyBuffer_Release(&view);
    }
    Buffer(const Buffer &) = delete;
    Buffer &operator=(const Buffer &) = delete;
};

/* Lists of the caller. The arrays and strings stay those of the caller, so that a batch needs
 * memory for pointers alone. */
class Batch
{
  public:
    Batch(nb::handle x, bool writable, const Integers &starts, const nb::dict &segments,
          const std::optional<Integers> &time_ms, const std::optional<Floats> &query,
          const nb::object &ids, const nb::object &item_ids, const std::optional<Doubles> &scores)
        : starts_(starts.data(), starts.data() + starts.shape(0)),
          lists_(starts_.empty() ? 0 : starts_.size() - 1)
    {
        require(!starts_.empty() && starts_[0] == 0, "'starts' must begin with 0");
        read_matrix(x, writable);
        for (size_t i = 0; i < lists_; i++)
            require(starts_[i] <= starts_[i + 1], "'starts' must not decrease");
        require(starts_[lists_] == items_, "'starts' must end with the number of rows of 'X'");
        read_segments(segments);
        if (time_ms) {
            require(time_ms->shape(0) == lists_, "'time_ms' must have one value per list");
            time_ms_ = time_ms->data();
        }
        if (query) {
            require(query->shape(0) == lists_, "'query_features' must have one row per list");
            query_ = query->data();
            query_count_ = query->shape(1);
        }
        if (!ids.is_none())
            ids_ = texts_of(nb::cast<nb::tuple>(ids), lists_, "ids");
        if (!item_ids.is_none())
            item_ids_ =
                texts_of(nb::cast<nb::tuple>(item_ids), static_cast<size_t>(items_), "item_ids");
        if (scores) {
            require(scores->shape(0) == static_cast<size_t>(items_),
                    "'scores' must have one value per row of 'X'");
            scores_ = scores->data();
        }
    }
    Batch(const Batch &) = delete;
    Batch &operator=(const Batch &) = delete;

    size_t lists() const
    {
        return lists_;
    }

    /* Set `l` to list i, valid until the next call. */
    void get(size_t i, ek_array_list &l)
    {
        int64_t first = starts_[i];
        l = ek_array_list{};
        l.id = ids_.empty() ? nullptr : ids_[i];
        l.time_ms = time_ms_ ? time_ms_[i] : 0;
        l.segments = 0;
        for (size_t d = 0; d < dimensions_.size(); d++)
            if (values_[d][i])
                segment_[l.segments++] = {dimensions_[d].c_str(), values_[d][i]};
        l.segment = segment_;
        l.query_features = query_ ? query_ + i * query_count_ : nullptr;
        l.query_count = query_count_;
        l.item_id = item_ids_.empty() ? nullptr : item_ids_.data() + first;
        l.items = static_cast<size_t>(starts_[i + 1] - first);
        l.feature_count = static_cast<size_t>(features_);
        l.scores = scores_ ? scores_ + first : nullptr;
        if (!direct_) {
            gather(first, l);
            return;
        }
        l.features = l.items ? reinterpret_cast<float *>(at(first, 0)) : nullptr;
        l.item_stride = static_cast<size_t>(item_stride_) / sizeof(float);
        l.feature_stride = static_cast<size_t>(feature_stride_) / sizeof(float);
        /* A row or a column of an array may have any stride, even 0. */
        if (l.items <= 1)
            l.item_stride = l.feature_count;
        if (features_ <= 1)
            l.feature_stride = 1;
    }

    /* Write the values of list i that differ from those of `get` to the caller's array. */
    void put(size_t i, const ek_array_list &l)
    {
        if (direct_)
            return;
        for (size_t k = 0; k < before_.size(); k++) {
            if (!std::memcmp(&before_[k], &copy_[k], sizeof(float)))
                continue;
            char *to = at(starts_[i] + static_cast<int64_t>(k / l.feature_count),
                          static_cast<int64_t>(k % l.feature_count));
            double wide = static_cast<double>(copy_[k]);
            std::memcpy(to, double_ ? static_cast<void *>(&wide) : &copy_[k], double_ ? 8 : 4);
        }
    }

  private:
    void read_matrix(nb::handle x, bool writable)
    {
        int flags = PyBUF_STRIDES | PyBUF_FORMAT | (writable ? PyBUF_WRITABLE : 0);
        Py_buffer &v = buffer_.view;
        if (PyObject_GetBuffer(x.ptr(), &v, flags)) {
            PyErr_Clear();
            v.obj = nullptr;
            throw nb::value_error(writable ? "'X' is not a writable array" : "'X' is not an array");
        }
        std::string format = v.format ? v.format : "B";
        if (format.size() == 2 && std::strchr("=<@", format[0]))
            format.erase(0, 1);
        require(v.ndim == 2 && (format == "f" || format == "d"),
                "'X' must have 2 dimensions and dtype float32 or float64");
        double_ = format == "d";
        items_ = v.shape[0];
        features_ = v.shape[1];
        item_stride_ = v.strides[0];
        feature_stride_ = v.strides[1];
        auto is_direct = [](Py_ssize_t stride, int64_t count) {
            return count <= 1 || (stride > 0 && stride % (Py_ssize_t)sizeof(float) == 0);
        };
        direct_ = !double_ && is_direct(item_stride_, items_) &&
                  is_direct(feature_stride_, features_) &&
                  reinterpret_cast<uintptr_t>(v.buf) % sizeof(float) == 0;
    }

    void read_segments(const nb::dict &segments)
    {
        if (nb::len(segments) > SEGMENTS_MAX)
            throw nb::value_error("'segments' has more than 16 dimensions");
        for (auto [name, values] : segments) {
            const char *text = text_of(name, "segments");
            require(text != nullptr, "'segments': a dimension is None");
            dimensions_.emplace_back(text);
            values_.push_back(texts_of(nb::cast<nb::tuple>(values), lists_,
                                       ("segments[" + dimensions_.back() + "]").c_str()));
        }
    }

    char *at(int64_t item, int64_t feature) const
    {
        return static_cast<char *>(buffer_.view.buf) + item * item_stride_ +
               feature * feature_stride_;
    }

    void gather(int64_t first, ek_array_list &l)
    {
        copy_.resize(l.items * l.feature_count);
        for (size_t i = 0; i < l.items; i++)
            for (size_t f = 0; f < l.feature_count; f++) {
                const char *from = at(first + static_cast<int64_t>(i), static_cast<int64_t>(f));
                double wide = 0;
                float *to = &copy_[i * l.feature_count + f];
                std::memcpy(double_ ? static_cast<void *>(&wide) : to, from, double_ ? 8 : 4);
                if (double_)
                    *to = static_cast<float>(wide);
            }
        before_ = copy_;
        l.features = l.items ? copy_.data() : nullptr;
        l.item_stride = l.feature_count;
        l.feature_stride = 1;
    }

    Buffer buffer_;
    bool double_ = false, direct_ = false;
    int64_t items_ = 0, features_ = 0;
    Py_ssize_t item_stride_ = 0, feature_stride_ = 0;
    std::vector<int64_t> starts_; /* a copy, as other threads may write to the caller's */
    size_t lists_;
    std::vector<std::string> dimensions_;
    std::vector<std::vector<const char *>> values_; /* [dimension][list] */
    ek_segment_value segment_[SEGMENTS_MAX];
    const int64_t *time_ms_ = nullptr;
    const float *query_ = nullptr;
    size_t query_count_ = 0;
    std::vector<const char *> ids_, item_ids_;
    const double *scores_ = nullptr;
    std::vector<float> copy_, before_;
};

/* Result of a batch that ran without the interpreter lock. */
struct Outcome {
    int rc = EK_OK;
    size_t list = 0;

    void check(const Error &e) const
    {
        if (rc)
            e.raise(rc, "list " + std::to_string(list) + ": ");
    }
};

class Guard
{
  public:
    Guard(const std::string &manifest, const std::string &profile,
          const std::optional<std::string> &rules)
        : assets_(made<Assets>(ek_assets_load, manifest.c_str(), profile.c_str(),
                               text_or_null(rules), nullptr))
    {
        ek_assets_write_features(assets_.get());
        guard_ = made<decltype(guard_)>(ek_guard_new, assets_.get());
    }

    /* Events that a failed call leaves are returned by the next one. */
    std::vector<std::string> observe(nb::handle x, const Integers &starts, const nb::dict &segments,
                                     const std::optional<Integers> &time_ms,
                                     const std::optional<Floats> &query, const nb::object &ids,
                                     const nb::object &item_ids,
                                     const std::optional<Doubles> &scores)
    {
        Use use(busy_, "guard");
        Batch batch(x, false, starts, segments, time_ms, query, ids, item_ids, scores);
        Error e;
        Outcome out;
        {
            nb::gil_scoped_release release;
            run(batch, out, e);
        }
        out.check(e);
        return std::exchange(events_, {});
    }

    std::vector<std::string> advance(int64_t now_ms)
    {
        Use use(busy_, "guard");
        Error e;
        int64_t elapsed_ms, clock_ms;
        if (!__builtin_sub_overflow(now_ms, advanced_ms_.value_or(now_ms), &elapsed_ms) &&
            !__builtin_add_overflow(clock_ms_, elapsed_ms, &clock_ms) && elapsed_ms > 0)
            clock_ms_ = clock_ms;
        advanced_ms_ = now_ms;
        int rc = ek_guard_advance(guard_.get(), clock_ms_, e.e);
        if (!rc)
            rc = fetch();
        e.check(rc);
        return std::exchange(events_, {});
    }

    std::string plan()
    {
        Use use(busy_, "guard");
        Error e;
        size_t length = 0;
        const char *json = ek_guard_plan(guard_.get(), &length, e.e);
        if (!json)
            e.raise(EK_ENOMEM);
        return std::string(json, length);
    }

    uint64_t plan_version()
    {
        Use use(busy_, "guard");
        return ek_guard_plan_version(guard_.get());
    }

    uint64_t list_count()
    {
        Use use(busy_, "guard");
        return ek_guard_list_count(guard_.get());
    }

  private:
    int fetch()
    {
        const char *json;
        int more;
        while ((more = ek_guard_next_event(guard_.get(), &json)) > 0)
            events_.emplace_back(json);
        return more ? EK_ENOMEM : EK_OK;
    }

    void run(Batch &batch, Outcome &out, const Error &e)
    {
        ek_array_list list;
        for (size_t i = 0; !out.rc && i < batch.lists(); i++) {
            batch.get(i, list);
            out.list = i;
            /* As in a replay, lists without a time have their number. */
            int64_t count = static_cast<int64_t>(ek_guard_list_count(guard_.get()));
            clock_ms_ = std::max(clock_ms_, count);
            out.rc = ek_guard_observe_values(guard_.get(), &list, clock_ms_, e.e);
            if (!out.rc)
                out.rc = fetch();
        }
    }

    using Assets = Owned<ek_assets, ek_assets_free>;
    Assets assets_;
    Owned<ek_guard, ek_guard_free> guard_; /* freed before its assets */
    std::vector<std::string> events_;
    int64_t clock_ms_ =
        0; /* of the guard: number of lists, plus the time between calls of advance */
    std::optional<int64_t> advanced_ms_;
    std::atomic<bool> busy_{false};
};

class Applier
{
  public:
    explicit Applier(const std::string &json)
        : applier_(made<decltype(applier_)>(ek_applier_new, json.data(), json.size()))
    {
    }

    size_t apply(nb::handle x, const Integers &starts, const nb::dict &segments,
                 const std::optional<Integers> &time_ms, const std::optional<Floats> &query,
                 const nb::object &ids, const nb::object &item_ids)
    {
        Use use(busy_, "plan");
        Batch batch(x, true, starts, segments, time_ms, query, ids, item_ids, std::nullopt);
        Error e;
        Outcome out;
        size_t changed = 0;
        {
            nb::gil_scoped_release release;
            ek_array_list list;
            for (size_t i = 0; !out.rc && i < batch.lists(); i++) {
                size_t more = 0;
                batch.get(i, list);
                out.list = i;
                out.rc = ek_plan_apply(applier_.get(), &list, &more, e.e);
                changed += more;
                if (more)
                    batch.put(i, list);
            }
        }
        out.check(e);
        return changed;
    }

  private:
    Owned<ek_applier, ek_applier_free> applier_;
    std::atomic<bool> busy_{false};
};

class ProfileBuilder
{
  public:
    ProfileBuilder(const std::string &manifest, const std::optional<std::string> &stratify_by)
        : builder_(made<decltype(builder_)>(ek_profile_builder_new, manifest.c_str(),
                                            text_or_null(stratify_by)))
    {
    }

    void add(nb::handle x, const Integers &starts, const nb::dict &segments,
             const std::optional<Integers> &time_ms, const std::optional<Floats> &query,
             const nb::object &ids, const nb::object &item_ids)
    {
        Use use(busy_, "profile builder");
        Batch batch(x, false, starts, segments, time_ms, query, ids, item_ids, std::nullopt);
        Error e;
        Outcome out;
        {
            nb::gil_scoped_release release;
            ek_array_list list;
            for (size_t i = 0; !out.rc && i < batch.lists(); i++) {
                batch.get(i, list);
                out.list = i;
                out.rc = ek_profile_builder_add(builder_.get(), &list, e.e);
            }
        }
        out.check(e);
    }

    void save(const std::string &path)
    {
        Use use(busy_, "profile builder");
        Error e;
        int rc;
        {
            nb::gil_scoped_release release;
            rc = ek_profile_builder_save(builder_.get(), path.c_str(), e.e);
        }
        e.check(rc);
    }

  private:
    Owned<ek_profile_builder, ek_profile_builder_free> builder_;
    std::atomic<bool> busy_{false};
};

using Labels = nb::ndarray<const float, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Scores = nb::ndarray<double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

/* Lists with labels, for training. */
class RankerData
{
  public:
    explicit RankerData(const std::string &manifest)
        : data_(made<decltype(data_)>(ranker_data_new, manifest.c_str()))
    {
    }

    void add(nb::handle x, const Integers &starts, const std::optional<Floats> &query,
             const nb::object &ids, const Labels &labels)
    {
        Batch batch(x, false, starts, nb::dict(), std::nullopt, query, ids, nb::none(),
                    std::nullopt);
        require(labels.shape(0) == static_cast<size_t>(starts.data()[batch.lists()]),
                "'y' must have one value per row");
        Error e;
        Outcome out;
        ek_array_list list;
        for (size_t i = 0; !out.rc && i < batch.lists(); i++) {
            batch.get(i, list);
            out.list = i;
            out.rc = ranker_data_add(data_.get(), &list, labels.data() + starts.data()[i], e.e);
        }
        out.check(e);
    }

    ranker_data *get()
    {
        return data_.get();
    }

  private:
    Owned<ranker_data, ranker_data_free> data_;
};

/* Callbacks of a training run, which has released the interpreter lock. */
struct Training {
    bool interrupted = false;
    std::vector<std::string> warnings;

    static int progress(void *context)
    {
        nb::gil_scoped_acquire acquire;
        auto *self = static_cast<Training *>(context);
        self->interrupted = self->interrupted || PyErr_CheckSignals() != 0;
        return self->interrupted;
    }

    static void warn(void *context, const char *text)
    {
        static_cast<Training *>(context)->warnings.emplace_back(text);
    }
};

/* Train a network. Return (epochs, best epoch, loss, NDCG@10, warnings). */
nb::tuple train(RankerData &lists, RankerData *vali, const std::optional<std::string> &loss,
                const std::string &routing, const std::vector<int> &routed,
                const std::optional<std::string> &log_input, bool list_free,
                const std::vector<int> &hidden, int epochs, int batch, double rate, double decay,
                uint64_t seed, const std::string &output)
{
    Error e;
    Training run;
    ranker_options o = {};
    ranker_result result;
    o.loss = text_or_null(loss);
    o.routing = routing.c_str();
    o.routed = routed.data();
    o.routed_count = static_cast<int>(routed.size());
    o.log_input = text_or_null(log_input);
    o.list_free = list_free;
    o.hidden = hidden.data();
    o.hidden_count = static_cast<int>(hidden.size());
    o.epochs = epochs;
    o.batch = batch;
    o.rate = rate;
    o.decay = decay;
    o.seed = seed;
    o.progress = Training::progress;
    o.warn = Training::warn;
    o.context = &run;
    int rc;
    {
        nb::gil_scoped_release release;
        rc = ranker_train(lists.get(), vali ? vali->get() : nullptr, &o, output.c_str(), &result,
                          e.e);
    }
    if (run.interrupted)
        throw nb::python_error();
    e.check(rc);
    return nb::make_tuple(result.epochs, result.best_epoch, result.loss, result.ndcg10,
                          run.warnings);
}

class Ranker
{
  public:
    Ranker(const std::string &manifest, const std::string &model)
        : ranker_(made<decltype(ranker_)>(ranker_new, manifest.c_str(), model.c_str()))
    {
    }

    void score(nb::handle x, const Integers &starts, const std::optional<Floats> &query,
               const nb::object &ids, const std::optional<std::vector<int>> &routed, Scores &scores)
    {
        Use use(busy_, "ranker");
        Batch batch(x, false, starts, nb::dict(), std::nullopt, query, ids, nb::none(),
                    std::nullopt);
        require(scores.shape(0) == static_cast<size_t>(starts.data()[batch.lists()]),
                "'scores' must have one value per row");
        Error e;
        Outcome out;
        {
            nb::gil_scoped_release release;
            ek_array_list list;
            for (size_t i = 0; !out.rc && i < batch.lists(); i++) {
                batch.get(i, list);
                out.list = i;
                out.rc = ranker_score(ranker_.get(), &list, routed ? routed->data() : nullptr,
                                      routed ? static_cast<int>(routed->size()) : -1,
                                      scores.data() + starts.data()[i], e.e);
            }
        }
        out.check(e);
    }

  private:
    Owned<ranker, ranker_free> ranker_;
    std::atomic<bool> busy_{false};
};

/* Return (name, "item" or "query", routable) for each feature of messages, in their order. */
nb::list read_manifest(const nb::bytes &text, const std::string &name)
{
    auto info = made<Owned<manifest_info, manifest_info_free>>(manifest_info_read, name.c_str(),
                                                               text.c_str(), text.size());
    nb::list out;
    for (size_t i = 0; i < info->count; i++)
        out.append(nb::make_tuple(info->feature[i].name,
                                  info->feature[i].is_query ? "query" : "item",
                                  static_cast<bool>(info->feature[i].is_routable)));
    return out;
}

} // namespace

NB_MODULE(_native, m)
{
    using namespace nb::literals;
    m.def("version", [] { return ek_version(); });
    m.def("read_manifest", read_manifest, "text"_a, "name"_a);
    m.def(
        "check_profile",
        [](const std::string &path, const std::optional<nb::bytes> &manifest) {
            Error e;
            e.check(profile_check(path.c_str(), manifest ? manifest->c_str() : nullptr,
                                  manifest ? manifest->size() : 0, e.e));
        },
        "path"_a, "manifest"_a.none());
    nb::class_<Guard>(m, "Guard")
        .def(nb::init<const std::string &, const std::string &,
                      const std::optional<std::string> &>(),
             "manifest"_a, "profile"_a, "rules"_a.none())
        .def("observe", &Guard::observe, "X"_a, "starts"_a, "segments"_a, "time_ms"_a.none(),
             "query_features"_a.none(), "ids"_a.none(), "item_ids"_a.none(), "scores"_a.none())
        .def("advance", &Guard::advance, "now_ms"_a)
        .def("plan", &Guard::plan)
        .def("plan_version", &Guard::plan_version)
        .def("list_count", &Guard::list_count);
    nb::class_<Applier>(m, "Applier")
        .def(nb::init<const std::string &>(), "plan"_a)
        .def("apply", &Applier::apply, "X"_a, "starts"_a, "segments"_a, "time_ms"_a.none(),
             "query_features"_a.none(), "ids"_a.none(), "item_ids"_a.none());
    nb::class_<ProfileBuilder>(m, "ProfileBuilder")
        .def(nb::init<const std::string &, const std::optional<std::string> &>(), "manifest"_a,
             "stratify_by"_a.none())
        .def("add", &ProfileBuilder::add, "X"_a, "starts"_a, "segments"_a, "time_ms"_a.none(),
             "query_features"_a.none(), "ids"_a.none(), "item_ids"_a.none())
        .def("save", &ProfileBuilder::save, "path"_a);
    nb::class_<RankerData>(m, "RankerData")
        .def(nb::init<const std::string &>(), "manifest"_a)
        .def("add", &RankerData::add, "X"_a, "starts"_a, "query_features"_a.none(), "ids"_a.none(),
             "labels"_a);
    m.def("train", &train, "lists"_a, "vali"_a.none(), "loss"_a.none(), "routing"_a, "routed"_a,
          "log_input"_a.none(), "list_free"_a, "hidden"_a, "epochs"_a, "batch"_a, "rate"_a,
          "decay"_a, "seed"_a, "output"_a);
    nb::class_<Ranker>(m, "Ranker")
        .def(nb::init<const std::string &, const std::string &>(), "manifest"_a, "model"_a)
        .def("score", &Ranker::score, "X"_a, "starts"_a, "query_features"_a.none(), "ids"_a.none(),
             "routed"_a.none(), "scores"_a);
}
